import { ATTEMPT_MOVES, isOpen } from "../../core/attempts/attempt-states.js";
import { type AttemptState, JOB_MOVES } from "../../core/jobs/job.js";

/** The diagrams of core/README.md, by the name of their block, drawn from the transition tables. */
export function stateDiagrams(): Readonly<Record<string, string>> {
  const open = (state: string): boolean => isOpen({ state: state as AttemptState });
  const moves: Moves = ATTEMPT_MOVES;
  return {
    "job status": diagramOf("queued", JOB_MOVES),
    "attempt states": diagramOf("intended", moves, open),
    "late words": diagramOf(null, moves, (state) => !open(state)),
  };
}

/** The text with each block between `<!-- diagram: NAME -->` and `<!-- end -->` replaced by its diagram. */
export function withDiagrams(text: string, diagrams: Readonly<Record<string, string>>): string {
  return Object.entries(diagrams).reduce((before, [name, diagram]) => {
    const [begin, end] = [`<!-- diagram: ${name} -->\n`, "<!-- end -->"];
    const from = before.indexOf(begin);
    const to = before.indexOf(end, from);
    if (from < 0 || to < 0) throw new Error(`There is no block for the diagram "${name}".`);
    return `${before.slice(0, from)}${begin}${diagram}${before.slice(to)}`;
  }, text);
}

type Moves = Readonly<Record<string, readonly string[]>>;

/** The transitions from these states, one line each. A state without one is an end. */
function diagramOf(first: string | null, moves: Moves, isShown: (from: string) => boolean = () => true): string {
  const shown = Object.entries(moves).filter(([from]) => isShown(from));
  const lines = shown.flatMap(([from, to]) => to.map((state) => `${from} --> ${state}`));
  const ends = Object.keys(moves)
    .filter((state) => moves[state]?.length === 0)
    .map((state) => `${state} --> [*]`);
  const all = [...(first === null ? [] : [`[*] --> ${first}`]), ...lines, ...ends];
  return ["```mermaid", "stateDiagram-v2", ...all.map((line) => `    ${line}`), "```", ""].join("\n");
}
