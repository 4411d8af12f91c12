/** A fermata, the sign over a note that is held, on a ground that suits light and dark tabs. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
<rect width="64" height="64" rx="14" fill="#1d1b26"/>
<path d="M10 44a22 22 0 0 1 44 0h-4.5a17.5 15.5 0 0 0-35 0z" fill="#ffd8a8"/>
<circle cx="32" cy="41" r="5" fill="#ffd8a8"/>
</svg>
`;
