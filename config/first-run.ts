import type { App } from "./app.js";

const DEMO_CREDITS = 1_000;

/**
 * Makes the account `demo` on an empty installation.
 *
 * @param url where the server listens
 * @returns what to print: its key, shown this once, a first request, and where the docs are
 */
export async function welcome(app: App, url: string): Promise<string> {
  const tier = "pro" in app.settings.tiers ? "pro" : (Object.keys(app.settings.tiers)[0] ?? "free");
  const account = await app.accounts.create({ name: "demo", tier, acceptTerms: true, credits: DEMO_CREDITS });
  const { token } = await app.accounts.issueKey(account.id, { name: "demo" });
  const model = (await app.models.list()).find(({ status }) => status === "available")?.model.id ?? "synth/instrumental";
  const body = JSON.stringify({ model_id: model, prompt: "calm piano over soft rain, slow and warm" });
  return `
An account \`demo\` was made (${account.id}: tier ${tier}, ${DEMO_CREDITS} credits, terms accepted).
Its API key is shown this once:

  ${token}

Make music:

  curl -s ${url}/api/v1/generations -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -H "Idempotency-Key: first-$(date +%s)" -H 'Prefer: wait=60' -d '${body}'

The answer's status_url shows the finished piece with its play_url.
Docs: ${url}/docs
`;
}
