import { useEffect, useState } from "preact/hooks";
import { dataOf } from "../../parts/api-error.js";
import { Button } from "../../parts/elements.js";
import { api, type Job, type SplitOffer, type Track } from "../api.js";
import { refreshCredits } from "../shell/credits.js";
import { follow, type Outlook } from "../music/follow.js";
import { keepSplitJob, splitJobOf } from "../music/memory.js";
import { MixerView } from "./mixer-view.js";
import { once } from "../compose/once.js";
import { priceOf } from "../compose/price.js";
import { Progress } from "../music/progress.js";
import { wordsOf, wordsOfFailure } from "../words.js";

type Operation = SplitOffer["operation"];

const PATHS = { stem_split: "/api/v1/tracks/{id}/stems", vocal_removal: "/api/v1/tracks/{id}/vocal-removal" } as const;

const WORDS: Readonly<Record<Operation, { readonly title: string; readonly hint: string; readonly button: string }>> = {
  stem_split: { title: "Stems", hint: "Voice, drums, bass and the rest, each alone.", button: "Split into stems" },
  vocal_removal: {
    title: "Voice and backing",
    hint: "The voice, and all but the voice.",
    button: "Take the voice out",
  },
};

interface StemsPanelProps {
  readonly track: Track;
  readonly offers: readonly SplitOffer[];
}

/** Splits a track, and plays its parts. */
export function StemsPanel({ track, offers }: StemsPanelProps) {
  return (
    <section class="panel stems" aria-label={`Stems of ${track.title}`}>
      {offers.map((offer) => (
        <Split key={offer.operation} track={track} offer={offer} />
      ))}
    </section>
  );
}

function Split({ track, offer }: { readonly track: Track; readonly offer: SplitOffer }) {
  const { operation, credit_cost: cost, status } = offer;
  const { title, hint, button } = WORDS[operation];
  const [jobId, setJobId] = useState(splitJobOf(track.id, operation));
  const [job, setJob] = useState<Job | null>(null);
  const [outlook, setOutlook] = useState<Outlook>();
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);

  useEffect(() => {
    if (jobId === undefined) return;
    let isGone = false;
    let stop = (): void => undefined;
    const params = { path: { job_id: jobId } };
    dataOf(api.GET("/api/v1/jobs/{job_id}", { params })).then(
      (found) => {
        if (isGone) return;
        setJob(found);
        if (found.status === "completed" || found.status === "failed") return;
        stop = follow(jobId, {
          onOutlook: setOutlook,
          onEnd: (ended) => {
            setJob(ended);
            void refreshCredits();
          },
        });
      },
      () => {
        // Another account's, or deleted.
        keepSplitJob(track.id, operation, null);
        if (!isGone) setJobId(undefined);
      },
    );
    return () => {
      isGone = true;
      stop();
    };
  }, [jobId]);

  const start = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const created = await once(`${operation} ${track.id}`, (key) =>
        dataOf(
          api.POST(PATHS[operation], {
            params: { path: { id: track.id }, header: { "Idempotency-Key": key } },
            body: { client: "studio" },
          }),
        ),
      );
      keepSplitJob(track.id, operation, created.job_id);
      setJob(null);
      setJobId(created.job_id);
      void refreshCredits();
    } catch (reason) {
      setError(reason as Error);
    } finally {
      setBusy(false);
    }
  };

  if (job?.status === "completed") return <MixerView title={title} track={track} outputs={job.outputs} />;
  const isUnderway = jobId !== undefined && job?.status !== "failed";
  return (
    <div class="split">
      <div>
        <h4>{title}</h4>
        <p class="soft">{hint}</p>
      </div>
      {isUnderway ? (
        <Progress generation={{ outlook, created_at: job?.created_at ?? new Date().toISOString() }} />
      ) : (
        <Button isBusy={isBusy} disabled={status === "unavailable"} onClick={() => void start()}>
          {button} <span class="price">{status === "unavailable" ? "unavailable just now" : priceOf(cost)}</span>
        </Button>
      )}
      {job?.error === undefined ? null : (
        <p class="note bad" role="alert">
          {wordsOfFailure(job.error)} Your credits were refunded.
        </p>
      )}
      {error === null ? null : (
        <p class="note bad" role="alert">
          {wordsOf(error)}
        </p>
      )}
    </div>
  );
}
