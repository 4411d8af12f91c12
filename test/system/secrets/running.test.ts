import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { FaultReceiver } from "../../support/fault-receiver/receiver.js";
import { type Environment, eventually, useSandbox } from "../../support/process.js";

interface Status {
  readonly keys: readonly { readonly id: string; readonly role: string; readonly sealed_rows: number }[];
}

const keyIn = (link: string): string | null => new URL(link).searchParams.get("key");

describe("Rotating the secret key while processes run", function () {
  this.timeout(120_000);
  const sandbox = useSandbox();
  let receiver: FaultReceiver;
  beforeEach(async () => {
    receiver = await FaultReceiver.open();
  });
  afterEach(() => receiver.close());

  it("keeps old links and signatures valid, and revokes old links when the old key is retired", async () => {
    const dataDir = await sandbox.dataDir();
    const ca = join(dataDir, "ca.pem");
    await writeFile(ca, receiver.ca);
    const env: Environment = {
      NODE_EXTRA_CA_CERTS: ca,
      FERMATA_WEBHOOKS__ALLOW_NETWORKS: "127.0.0.0/8",
      FERMATA_JOBS__SWEEP_MS: "100",
    };
    await sandbox.json(["migrate"], dataDir, env);
    const { id: account } = await sandbox.json<{ id: string }>(
      ["accounts", "create", "alice", "--tier", "pro", "--accept-terms", "--credits", "100"],
      dataDir,
      env,
    );
    const { key } = await sandbox.json<{ key: string }>(["keys", "issue", account], dataDir, env);
    const [first, second] = [sandbox.spawn(["serve"], dataDir, env), sandbox.spawn(["serve"], dataDir, env)];
    sandbox.spawn(["work"], dataDir, env);
    const [url, otherUrl] = [await first.listening(), await second.listening()];
    const api = new ApiClient(url, key);
    const { signing_secret: secret } = dataOf<{ signing_secret: string }>(
      await api.send("POST", "/api/v1/webhook-endpoints", {
        headers: { "Content-Type": "application/json" },
        body: { url: receiver.url("/ok") },
      }),
    );

    let received = 0;
    /** A finished job whose webhook was signed with the endpoint's secret. @returns its link, and at both servers */
    const generate = async (): Promise<{ readonly link: string; readonly links: readonly string[] }> => {
      const body = { model_id: "synth/instrumental", prompt: "slow rain", duration: 5 };
      const { id } = dataOf<{ id: string }>(await api.generate(body));
      received += 1;
      const request = (await receiver.received(received)).at(-1);
      expect(() =>
        new Webhook(secret).verify(request?.body ?? "", request?.headers as Record<string, string>),
      ).not.to.throw();
      const { tracks } = dataOf<{ tracks: readonly { play_url: string }[] }>(
        await api.get(`/api/v1/generations/${id}`),
      );
      const link = tracks[0]?.play_url ?? "";
      return { link, links: [link, link.replace(url, otherUrl)] };
    };
    const statuses = (links: readonly string[]): Promise<number[]> =>
      Promise.all(links.map(async (link) => (await fetch(link, { method: "HEAD" })).status));
    const secrets = <T>(...args: readonly string[]): Promise<T> => sandbox.json<T>(["secrets", ...args], dataDir, env);

    const before = await generate();
    const { current, previous } = await secrets<{ current: string; previous: string }>("rotate");
    expect(keyIn(before.link)).to.equal(previous);
    expect(await statuses(before.links)).to.deep.equal([200, 200]);

    const after = await eventually("a link under the new key", async () => {
      const created = await generate();
      return keyIn(created.link) === current ? created : null;
    });
    expect(await statuses([...after.links, ...before.links])).to.deep.equal([200, 200, 200, 200]);

    const status = await eventually("everything sealed with the new key", async () => {
      const found = await secrets<Status>("status");
      return found.keys.find(({ id }) => id === previous)?.sealed_rows === 0 ? found : null;
    });
    expect(status.keys).to.deep.equal([
      { id: current, role: "current", sealed_rows: 1 },
      { id: previous, role: "previous", sealed_rows: 0 },
    ]);

    expect(await secrets("retire")).to.deep.equal({ current, retired: [previous], lost: [] });
    await eventually("the old link ended at both servers", async () => {
      return (await statuses(before.links)).every((code) => code === 403);
    });
    expect(await statuses(after.links)).to.deep.equal([200, 200]);
    await generate();
  });

  it("refuses to start a process with only the old key", async () => {
    const dataDir = await sandbox.dataDir();
    const [old, fresh] = ["the first key, thirty-two characters", "the second key, thirty-two characters"];
    await sandbox.json(["migrate"], dataDir);
    const run = (env: Environment): Promise<{ readonly code: number; readonly stderr: string }> =>
      sandbox.command(["jobs", "list"], dataDir, env);
    expect((await run({ FERMATA_SECRETS__KEY: old })).code).to.equal(0);
    expect((await run({ FERMATA_SECRETS__KEY: fresh, FERMATA_SECRETS__PREVIOUS_KEY: old })).code).to.equal(0);
    const refused = await run({ FERMATA_SECRETS__KEY: old });
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include("nor the one it was rotated to").and.not.include(old);
    const notified = await sandbox.command(["secrets", "rotate"], dataDir, {
      FERMATA_SECRETS__KEY: fresh,
      FERMATA_SECRETS__PREVIOUS_KEY: old,
    });
    expect([notified.code, notified.stderr.includes("1. Create a key: `openssl rand -base64 33`.")]).to.deep.equal([
      1,
      true,
    ]);
  });
});
