/** What `plugins check --live --json` prints. */
export interface LiveDocument {
  readonly ok: boolean;
  readonly interrupted: boolean;
  readonly model: string | null;
  readonly addresses: readonly string[];
  readonly expected_cost: unknown;
  readonly steps: readonly { readonly step: string; readonly outcome: string; readonly detail: string }[];
  readonly purchase: { readonly billed: string; readonly work: string | null; readonly cost: unknown } | null;
  readonly tracks: readonly {
    readonly title: string | null;
    readonly files: readonly { readonly content_type: string | null; readonly issues: readonly string[] }[];
  }[];
}

export const outcomes = ({ steps }: LiveDocument): string[] => steps.map(({ step, outcome }) => `${step} ${outcome}`);
