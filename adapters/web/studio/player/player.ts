import { computed, signal } from "@preact/signals";
import { here, type Track } from "../api.js";

/** The track in the player; null before the first. */
export const current = signal<Track | null>(null);
export const isPlaying = signal(false);
/** Seconds. */
export const position = signal(0);
export const problem = signal<string | null>(null);

const measured = signal(0);
/** Seconds; what the API says until the file is known. */
export const duration = computed(() => (measured.value > 0 ? measured.value : (current.value?.duration ?? 0)));

/** The page's only one, so that one track plays at a time. */
const audio = document.createElement("audio");
audio.preload = "auto";
document.body.append(audio);

/** Whatever else makes sound; it is silenced when a track begins. */
const others = new Set<() => void>();

/** @param silence stops what is not in the player @returns forgets it */
export function alsoPlays(silence: () => void): () => void {
  others.add(silence);
  return () => others.delete(silence);
}

/** Before something plays: all the rest is silenced. */
export function takeTheStage(but?: () => void): void {
  if (but !== undefined) audio.pause();
  for (const silence of others) if (silence !== but) silence();
}

export function toggle(track: Track): void {
  if (current.value?.id === track.id && isPlaying.value) return audio.pause();
  play(track);
}

export function play(track: Track, from?: number): void {
  if (track.play_url === null) return;
  load(track);
  takeTheStage();
  problem.value = null;
  if (from !== undefined) audio.currentTime = from;
  audio.play().catch((error: unknown) => {
    if (!(error instanceof DOMException && error.name === "AbortError")) fail();
  });
}

/** Moves within a track; one that is not in the player yet is put there. */
export function seek(track: Track, seconds: number): void {
  load(track);
  const to = Math.max(0, Math.min(duration.value, seconds));
  audio.currentTime = to;
  position.value = to;
}

/** What is shown of a track that may not be in the player. */
export function positionOf(track: Track): number {
  return current.value?.id === track.id ? position.value : 0;
}

export function stop(): void {
  audio.pause();
  audio.removeAttribute("src");
  current.value = null;
  position.value = 0;
}

function load(track: Track): void {
  const url = here(track.play_url ?? "");
  if (current.value?.id === track.id && audio.getAttribute("src") === url) return;
  current.value = track;
  measured.value = 0;
  position.value = 0;
  problem.value = null;
  audio.src = url;
  describe(track);
}

function fail(): void {
  isPlaying.value = false;
  problem.value = "This track cannot be played just now. Reload the page to get fresh links.";
}

function describe({ title, artist_label: artist, thumbnail_url: cover }: Track): void {
  if (!("mediaSession" in navigator)) return;
  const artwork = cover === null ? [] : [{ src: here(cover), sizes: "512x512" }];
  navigator.mediaSession.metadata = new MediaMetadata({ title, artist, album: "Fermata", artwork });
}

audio.addEventListener("play", () => (isPlaying.value = true));
audio.addEventListener("pause", () => (isPlaying.value = false));
audio.addEventListener("ended", () => (isPlaying.value = false));
audio.addEventListener("timeupdate", () => (position.value = audio.currentTime));
audio.addEventListener("durationchange", () => {
  if (Number.isFinite(audio.duration)) measured.value = audio.duration;
});
audio.addEventListener("error", () => {
  if (audio.hasAttribute("src")) fail();
});

if ("mediaSession" in navigator) {
  const session = navigator.mediaSession;
  session.setActionHandler("play", () => void audio.play());
  session.setActionHandler("pause", () => audio.pause());
  session.setActionHandler("seekto", ({ seekTime }) => (audio.currentTime = seekTime ?? 0));
}

/** Between two of its time events, which come four times a second. */
export function exactPosition(): number {
  return audio.currentTime;
}
