const PATHS = {
  play: "M8 5.2v13.6a.9.9 0 0 0 1.4.8l10.2-6.8a1 1 0 0 0 0-1.6L9.4 4.4A.9.9 0 0 0 8 5.2z",
  pause:
    "M7.5 4.5h2a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1h-2a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1z" +
    "m7 0h2a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1h-2a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1z",
  download: "M11 4h2v8.2l3-3 1.4 1.4L12 16l-5.4-5.4L8 9.2l3 3zM5 18h14v2H5z",
  share:
    "M18 16a3 3 0 0 0-2.2 1L9 13a3.3 3.3 0 0 0 0-2l6.8-4A3 3 0 1 0 15 5v.6L8.2 9.6" +
    "a3 3 0 1 0 0 4.8L15 18.4V19a3 3 0 1 0 3-3z",
  stems: "M4 6h10v2H4zm14-2h2v6h-2zM4 11h4v2H4zm8-2h2v6h-2zm4 2h4v2h-4zM4 16h12v2H4zm14-2h2v6h-2z",
  again: "M12 5V2L7.5 6 12 10V7a5 5 0 1 1-4.9 6H5a7 7 0 1 0 7-8z",
} as const;

export function Icon({ name }: { readonly name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The sign over a note that is held. */
export function Fermata() {
  return (
    <svg class="fermata" viewBox="0 0 64 64" aria-hidden="true">
      <path d="M8 44a24 24 0 0 1 48 0h-3.5a20.5 17.5 0 0 0-41 0z" />
      <circle cx="32" cy="40" r="4.5" />
    </svg>
  );
}
