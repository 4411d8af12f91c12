import type { Tone } from "../parts/badge.js";
import type { Role } from "./session.js";

/** What a role may do. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  read: "may look, and change nothing",
  operate: "may operate",
  owner: "owner",
};

type Words = Readonly<Record<string, readonly [tone: Tone, word: string]>>;

/** How states are shown, by the word that the API has for them. */
export const STATES: Words = {
  queued: ["neutral", "Queued"],
  processing: ["busy", "Processing"],
  completed: ["good", "Completed"],
  failed: ["bad", "Failed"],
  active: ["good", "Active"],
  revoked: ["bad", "Revoked"],
  expired: ["neutral", "Expired"],
  disabled: ["neutral", "Disabled"],
  pending: ["busy", "Pending"],
  delivered: ["good", "Delivered"],
  exhausted: ["bad", "Gave up"],
  dropped: ["neutral", "Dropped"],
  available: ["good", "Available"],
  unavailable: ["bad", "Unavailable"],
  public: ["good", "Public"],
  private: ["neutral", "Private"],
  closed: ["good", "Closed"],
  open: ["bad", "Open"],
  half_open: ["warn", "Half open"],
  ok: ["good", "In order"],
  warning: ["warn", "Warning"],
};

export const KINDS: Readonly<Record<string, string>> = {
  music: "Music",
  stem_split: "Stem split",
  vocal_removal: "Vocal removal",
};

/** `acct_01m7…q2tk`: enough of an id to recognise it. */
export function shortId(id: string): string {
  return id.length <= 16 ? id : `${id.slice(0, 9)}…${id.slice(-4)}`;
}

/** `1 credit`, `12 credits`. */
export function counted(count: number, word: string): string {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}
