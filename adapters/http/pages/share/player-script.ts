/** Puts a player with a waveform in place of the browser's own. Plain JavaScript for the page, served as it is. */
export const PLAYER_SCRIPT = String.raw`"use strict";
(() => {
  const player = document.querySelector("[data-player]");
  const audio = player.querySelector("audio");
  const button = player.querySelector("button");
  const seek = player.querySelector("[data-seek]");
  const played = seek.querySelector(".played");
  const problem = player.querySelector("[role=status]");
  const [nowText, totalText] = player.querySelectorAll("[data-now], [data-total]");
  const stillness = matchMedia("(prefers-reduced-motion: reduce)");
  const statedSeconds = Number(player.dataset.duration);
  const STEP_SECONDS = 5;

  /** The position of the current drag, in seconds; null without one. */
  let dragged = null;

  const durationSeconds = () =>
    Number.isFinite(audio.duration) && audio.duration > 0 ? audio.duration : statedSeconds;
  const position = () => dragged ?? audio.currentTime;
  /** In whole seconds: the length that API and link preview show, unless the file differs by more than rounding. */
  const shownLength = () => {
    const all = durationSeconds();
    return Math.round(Math.abs(all - statedSeconds) < 1 ? statedSeconds : all);
  };

  function clockTime(whole) {
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor(whole / 60) % 60;
    const rest = String(whole % 60).padStart(2, "0");
    return hours === 0 ? minutes + ":" + rest : hours + ":" + String(minutes).padStart(2, "0") + ":" + rest;
  }

  function draw() {
    const [now, all] = [position(), durationSeconds()];
    const share = all > 0 ? Math.min(1, now / all) : 0;
    played.style.clipPath = "inset(0 " + (100 - 100 * share) + "% 0 0)";
  }

  /** Words change once a second at the most: screen readers say them. */
  let said = "";
  function tell() {
    draw();
    const all = shownLength();
    const isAtEnd = durationSeconds() > 0 && position() >= durationSeconds();
    const now = isAtEnd ? all : Math.min(Math.floor(position()), all || Infinity);
    const text = all > 0 ? clockTime(now) + " of " + clockTime(all) : clockTime(now);
    if (text === said) return;
    said = text;
    nowText.textContent = clockTime(now);
    if (all > 0) totalText.textContent = clockTime(all);
    seek.setAttribute("aria-valuemax", String(all));
    seek.setAttribute("aria-valuenow", String(now));
    seek.setAttribute("aria-valuetext", text);
  }

  function run() {
    draw();
    if (!audio.paused && !stillness.matches) requestAnimationFrame(run);
  }

  function moveTo(seconds) {
    const all = durationSeconds();
    if (!(all > 0)) return;
    audio.currentTime = Math.max(0, Math.min(all, seconds));
    tell();
  }

  function fail() {
    problem.textContent = "This track cannot be played. It may not be shared any more.";
  }

  function toggle() {
    if (!audio.paused) return audio.pause();
    problem.textContent = "";
    audio.play().catch((error) => {
      if (error.name !== "AbortError") fail();
    });
  }

  function secondsAt(event) {
    const box = seek.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * durationSeconds();
  }

  const KEYS = {
    ArrowRight: () => moveTo(audio.currentTime + STEP_SECONDS),
    ArrowUp: () => moveTo(audio.currentTime + STEP_SECONDS),
    ArrowLeft: () => moveTo(audio.currentTime - STEP_SECONDS),
    ArrowDown: () => moveTo(audio.currentTime - STEP_SECONDS),
    PageUp: () => moveTo(audio.currentTime + durationSeconds() / 10),
    PageDown: () => moveTo(audio.currentTime - durationSeconds() / 10),
    Home: () => moveTo(0),
    End: () => moveTo(durationSeconds()),
    " ": toggle,
    Enter: toggle,
  };

  function onKey(keys, event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  }

  function drag(event) {
    dragged = secondsAt(event);
    tell();
  }

  seek.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !(durationSeconds() > 0)) return;
    seek.setPointerCapture(event.pointerId);
    drag(event);
  });
  seek.addEventListener("pointermove", (event) => {
    if (dragged !== null) drag(event);
  });
  seek.addEventListener("pointerup", (event) => {
    if (dragged === null) return;
    dragged = null;
    moveTo(secondsAt(event));
  });
  seek.addEventListener("pointercancel", () => {
    dragged = null;
    tell();
  });
  seek.addEventListener("keydown", (event) => onKey(KEYS, event));
  document.body.addEventListener("keydown", (event) => {
    if (event.target === document.body) onKey({ " ": toggle }, event);
  });
  button.addEventListener("click", toggle);

  const showState = () => {
    player.classList.toggle("playing", !audio.paused);
    button.setAttribute("aria-label", audio.paused ? "Play" : "Pause");
    run();
  };
  for (const name of ["play", "pause", "ended"]) audio.addEventListener(name, showState);
  for (const name of ["timeupdate", "seeked", "durationchange"]) audio.addEventListener(name, tell);
  audio.addEventListener("error", fail);

  seek.setAttribute("role", "slider");
  seek.setAttribute("aria-label", "Position");
  seek.setAttribute("aria-valuemin", "0");
  seek.tabIndex = 0;
  for (const element of [button, nowText.parentElement]) element.hidden = false;
  audio.controls = false;
  player.classList.add("ready");
  if (audio.error !== null) fail();
  tell();

  if ("mediaSession" in navigator) {
    const cover = document.querySelector(".cover img");
    navigator.mediaSession.metadata = new MediaMetadata({
      title: document.querySelector("h1").textContent,
      artist: document.querySelector(".artist").textContent,
      artwork: cover === null ? [] : [{ src: cover.src, sizes: "512x512" }],
    });
  }
})();
`;
