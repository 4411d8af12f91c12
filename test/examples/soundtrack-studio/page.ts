const TOP = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Soundtrack Studio</title><link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/page.css"><script type="module" src="/client.js"></script>
<header><p class="brand"><img src="/icon.svg" alt="" width="20"> Soundtrack Studio</p>`;

/** The value of a button is where its form is sent. */
export const ENTRANCE = `${TOP}</header><main class="entrance">
<section><h1>Music for your film, in a minute</h1>
<p class="soft">Say what the scene feels like. You get a track to play, and its instruments one by one.</p></section>
<form class="card" method="post"><label>Email <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" minlength="8" required></label>
<p role="alert"></p>
<p><button value="/sign-in">Sign in</button> <button value="/sign-up" class="quiet">Create an account</button></p>
</form></main>`;

export const STUDIO = `${TOP}
<form method="post"><button value="/sign-out" class="quiet">Sign out</button><p role="alert"></p></form></header><main>
<form class="card" method="post"><h1>Order a soundtrack</h1>
<label>What does it sound like? <textarea name="prompt" rows="4" placeholder="sad piano" required></textarea></label>
<label>Seconds <input name="seconds" type="number" min="5" max="60" value="20" required></label>
<p role="alert"></p><p><button value="/orders">Order for $2</button></p></form>
<section><h2>Your orders</h2><p role="status" class="soft">None yet: your first soundtrack will play here.</p>
<ul id="orders"></ul></section></main>`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="#7c5cff">
<path d="M1 2h4v12H1zM6 7h4v7H6zM11 4h4v10h-4z"/></svg>`;

export const STYLE = `:root { color-scheme: light dark; --ink: light-dark(#1c1a22, #f2eff8);
  --soft: light-dark(#5d5869, #aca5ba); --paper: light-dark(#f6f4f0, #141218); --card: light-dark(#fff, #1f1c26);
  --line: light-dark(#8d879a, #766f86); --accent: light-dark(#5636d3, #b9a6ff); --on: light-dark(#fff, #1a1430) }
* { box-sizing: border-box; margin: 0; }
body { max-width: 68rem; margin: auto; padding: 0 clamp(1rem, 4vw, 2rem) 3rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
header { display: flex; justify-content: space-between; align-items: center; min-height: 5rem; margin-bottom: 1rem; }
h1, h2, h3 { line-height: 1.25; letter-spacing: -.015em; overflow-wrap: anywhere; } h1 { font-size: 1.65rem; }
main { display: grid; gap: 2rem 3rem; align-items: start; }
@media (min-width: 52rem) { main { grid-template-columns: minmax(0, 23rem) minmax(0, 1fr); }
  .entrance { grid-template-columns: minmax(0, 1fr) minmax(0, 26rem); } }
.card, section, label, ul { display: grid; gap: 1rem; padding: 0; list-style: none; } label { gap: .3rem; }
.card { padding: 1.25rem; background: var(--card); border-radius: 1rem; box-shadow: 0 1px 3px #0002, 0 8px 24px #0001; }
input, textarea, button { font: inherit; color: inherit; border: 1px solid var(--line); border-radius: .6rem; }
input, textarea { width: 100%; padding: .55rem .7rem; background: var(--paper); font-weight: 400; resize: vertical; }
button { padding: .55rem 1.1rem; border-color: var(--accent); background: var(--accent); color: var(--on); }
button, label, figcaption, .brand { font-weight: 600; } button.quiet { background: none; color: var(--accent); }
button { cursor: pointer; } :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.soft { color: var(--soft); } [role=alert] { color: light-dark(#b3261e, #ffb4a9); }
[role=alert]:empty, form[hidden] { display: none; } img { vertical-align: middle; }
li { grid-template-columns: 4.5rem minmax(0, 1fr); } li > form, figure { grid-column: 1 / -1; } h3 { align-self: end; }
li > .soft { margin-top: -.8rem; } :is(h3, figcaption)::first-letter { text-transform: uppercase }
.cover { grid-row: span 2; background: #8884 } .cover, .cover img { width: 4.5rem; height: 4.5rem; border-radius: 8px; }
@media (prefers-reduced-motion: no-preference) { [data-state$=ing] .cover { animation: 1s infinite alternate wait; } }
audio { display: block; width: 100%; } @keyframes wait { to { background: var(--accent); } }
`;
