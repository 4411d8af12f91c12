/** To begin with: each is a prompt as it is. */
export const IDEAS: readonly { readonly name: string; readonly prompt: string }[] = [
  { name: "Rainy piano", prompt: "slow sad piano, rain on the window, late evening" },
  { name: "Sunday morning", prompt: "warm acoustic guitar, brushed drums, unhurried and hopeful" },
  { name: "Night drive", prompt: "synthwave, steady pulse, neon and empty roads" },
  { name: "Focus", prompt: "calm lo-fi beat, soft keys, nothing that distracts" },
  { name: "Small triumph", prompt: "bright orchestral, rising strings, a happy ending" },
  { name: "Waltz", prompt: "a music box waltz, tender and a little strange" },
];
