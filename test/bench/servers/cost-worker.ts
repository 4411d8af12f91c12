/**
 * Works on jobs of a provider elsewhere, each of which renders until its third poll and then delivers a song as an MP3.
 * Arguments: the data directory, the storage, and the seconds of the song; 0 for a file that is no song, of which
 * nothing is derived. It ends with the first message, and reports the CPU time of all its processes.
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { encodeMp3 } from "../../../plugins/synth/output/mp3.js";
import { SCRIPTED_AUDIO, SCRIPTED_TRACK, submitAccepts } from "../../support/doubles/scripted-provider.js";
import { openFermata } from "../installation.js";
import { NOTHING_DERIVED } from "../work.js";

/** What it reports in the end. */
export interface CostOfWork {
  readonly cpuMs: number;
  readonly songBytes: number;
}

const SAMPLE_RATE = 44_100;
const POLLS = 3;

const [, , dataDir = "", storageUrl = "", seconds = "0"] = process.argv;
const isSong = Number(seconds) > 0;
const song = isSong ? await aSong(Number(seconds)) : SCRIPTED_AUDIO;
const { app, provider } = await openFermata(dataDir, isSong ? {} : NOTHING_DERIVED, { storageUrl });
const polls = new Map<string, number>();
provider.behaviour = submitAccepts(50);
provider.pollBehaviour = ({ data }) => {
  const { task } = data as { readonly task: string };
  polls.set(task, (polls.get(task) ?? 0) + 1);
  if ((polls.get(task) ?? 0) < POLLS) return Promise.resolve({ state: "running", nextPollMs: 50 });
  const [mix] = SCRIPTED_TRACK.assets as [(typeof SCRIPTED_TRACK.assets)[number]];
  const asset = {
    ...mix,
    durationSeconds: isSong ? Number(seconds) : 180,
    source: { kind: "bytes" as const, bytes: song },
  };
  return Promise.resolve({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets: [asset] }] });
};
await app.work();
const before = await cpuMs();
process.send?.("ready");
await once(process, "message");
await app.stop();
// Those that decoded files have ended by now, and their time is that of this one.
const report: CostOfWork = { cpuMs: (await cpuMs()) - before, songBytes: song.length };
await new Promise((sent) => process.send?.(report, sent));
process.disconnect();

/** Noise that swells and fades, on two channels. */
async function aSong(length: number): Promise<Uint8Array> {
  const channel = (pitch: number): Float32Array =>
    Float32Array.from({ length: length * SAMPLE_RATE }, (_, at) => {
      const swell = 0.3 + 0.3 * Math.sin(at / SAMPLE_RATE);
      return swell * (Math.sin((at * pitch) / SAMPLE_RATE) + 0.2 * (Math.random() - 0.5));
    });
  return encodeMp3([channel(1_400), channel(2_100)], SAMPLE_RATE, 192);
}

/** User and system time of this process and of its children that have ended. */
async function cpuMs(): Promise<number> {
  const stat = await readFile("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}
