import type { IconName } from "../../parts/icons.js";

/** A section of the console in its navigation. */
export interface Place {
  /** The first part of the address; empty for the overview. */
  readonly name: string;
  readonly label: string;
  readonly icon: IconName;
}

export const PLACES: readonly { readonly label: string; readonly places: readonly Place[] }[] = [
  {
    label: "Work",
    places: [
      { name: "", label: "Overview", icon: "overview" },
      { name: "jobs", label: "Jobs", icon: "jobs" },
      { name: "accounts", label: "Accounts", icon: "accounts" },
      { name: "music", label: "Music", icon: "music" },
      { name: "webhooks", label: "Webhooks", icon: "webhooks" },
    ],
  },
  {
    label: "Supply",
    places: [
      { name: "providers", label: "Providers", icon: "providers" },
      { name: "models", label: "Models", icon: "models" },
      { name: "margin", label: "Margin", icon: "margin" },
    ],
  },
  {
    label: "Installation",
    places: [
      { name: "doctor", label: "Doctor", icon: "doctor" },
      { name: "maintenance", label: "Maintenance", icon: "maintenance" },
      { name: "settings", label: "Settings", icon: "settings" },
      { name: "audit", label: "Audit log", icon: "audit" },
      { name: "tokens", label: "Tokens", icon: "tokens" },
    ],
  },
];

/** Those at the bottom of a phone; the others are behind its last button. */
export const BAR: readonly string[] = ["", "jobs", "accounts", "providers"];
