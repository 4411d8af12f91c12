/** Drawn with lines, on 20 by 20. */
const PATHS = {
  overview: "M3 17V9m4.7 8V4m4.6 13v-6M17 17V7",
  jobs: "M7 15V5l9-2v10M7 15a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0Zm9-2a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0Z",
  music: "M3.5 13v-3a6.5 6.5 0 0 1 13 0v3M3.5 12h3v5.5h-3zm10 0h3v5.5h-3z",
  accounts: "M10 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-7 7.5c.6-3 3.4-4.7 7-4.7s6.4 1.7 7 4.7",
  providers: "M4 3h12v5H4zm0 9h12v5H4zm3-6.5h.01M7 14.5h.01",
  models: "m10 2.5 7 3.7v7.6l-7 3.7-7-3.7V6.200zm0 7.3 7-3.6m-7 3.6L3 6.200m7 3.6v7.7",
  margin: "M3 14.5 8 9l3.5 3L17 5.5m-4.5 0H17V10",
  webhooks: "M8.5 11.5 5 15a2.5 2.5 0 1 1-2-2.4M10 6.5a2.5 2.5 0 1 1 2.4 2L15 13a2.5 2.5 0 1 1-2 2H8",
  doctor: "M2.5 10H6l2-5 4 10 2-5h3.5",
  maintenance: "M12.5 3a4.5 4.5 0 0 0-4.2 6.1L3 14.4V17h2.6l5.3-5.3A4.5 4.5 0 0 0 17 7.5l-2.8 2.8-2.9-.7-.7-2.9z",
  settings: "M3 6h8m4 0h2M3 14h2m4 0h8M13 4v4M7 12v4",
  audit: "M5 2.5h7l3.5 3.5v11.5H5zM8 9.5h5M8 13h5",
  tokens: "M12.5 11.5a4 4 0 1 0-3.7-2.5L3 14.800V17.5h2.7v-2H8v-2.200l1.5-1.5",
  more: "M4 10h.01M10 10h.01M16 10h.01",
  copy: "M7 7V3.5h9.5V13H13M3.5 7H13v9.5H3.5z",
  check: "m4 10.5 4 4 8-9",
  close: "m5 5 10 10M15 5 5 15",
  back: "m11.5 4.5-5.5 5.5 5.5 5.5",
  next: "m8.5 4.5 5.5 5.5-5.5 5.5",
  search: "M9 15a6 6 0 1 0 0-12 6 6 0 0 0 0 12Zm4.3-1.7L17.5 17.5",
  out: "M8 3.5H4v13h4M12.5 6l4 4-4 4m4-4H8",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A fermata, the sign over a note that is held, on the colours of a track without a cover. */
export function Mark() {
  return (
    <span class="mark" aria-hidden="true">
      <svg viewBox="0 0 64 64">
        <path d="M10 44a22 22 0 0 1 44 0h-4.5a17.5 15.5 0 0 0-35 0z" />
        <circle cx="32" cy="41" r="5" />
      </svg>
    </span>
  );
}
