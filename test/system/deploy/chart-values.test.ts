import { expect } from "chai";
import { CLUSTER, podsOf } from "../../support/chart.js";
import { Helm, type Values } from "../../support/helm.js";

describe("The values of the chart config/helm", function () {
  this.timeout(120_000);
  let helm: Helm;
  before(async () => {
    helm = await Helm.open();
  });

  it("takes the secrets of an operator's own Secret, and makes none", async () => {
    const manifests = await helm.render({ ...CLUSTER, secrets: { existingSecret: "ours" } });
    expect(manifests.filter(({ kind }) => kind === "Secret")).to.deep.equal([]);
    for (const { container } of podsOf(manifests)) {
      expect(container.envFrom).to.deep.equal([{ secretRef: { name: "ours" } }]);
    }
  });

  it("begins new pods when settings or secrets change, and not otherwise", async () => {
    const marks = async (values: Values): Promise<string> => {
      const manifests = await helm.render(values);
      const deployments = manifests.filter(({ kind }) => kind === "Deployment");
      return JSON.stringify(deployments.map(({ spec }) => spec));
    };
    const before = await marks(CLUSTER);
    expect(await marks({ ...CLUSTER, service: { port: 81 } })).to.equal(before);
    expect(await marks({ ...CLUSTER, settings: { breaker: { failures: 3 } } })).not.to.equal(before);
    const { env } = CLUSTER["secrets"] as { env: object };
    const secrets = { env: { ...env, FERMATA_PLUGINS__ELEVENLABS__API_KEY: "another" } };
    expect(await marks({ ...CLUSTER, secrets })).not.to.equal(before);
  });

  const secrets = (more: object): Values => ({
    secrets: { env: { ...(CLUSTER["secrets"] as { env: object }).env, ...more } },
  });
  const refused: Readonly<Record<string, readonly [Values, string]>> = {
    "SQLite with several pods": [secrets({ FERMATA_STORAGE__URL: "sqlite:/data/f.sqlite" }), "FERMATA_STORAGE__URL"],
    "SQLite in the settings": [{ settings: { storage: { url: "sqlite:f" } } }, "/settings/storage/url"],
    "no address of callers": [{ publicUrl: "" }, "publicUrl is required with mode: cluster"],
    "no storage": [{ secrets: { env: {} } }, "mode: cluster needs secrets.env.FERMATA_STORAGE__URL"],
    "a queue in memory": [secrets({ FERMATA_QUEUE__URL: "memory:" }), "FERMATA_QUEUE__URL"],
    "a short key": [secrets({ FERMATA_SECRETS__KEY: "short" }), "FERMATA_SECRETS__KEY"],
    "a volume for one pod": [{ persistence: { accessMode: "ReadWriteOnce" } }, "must be ReadWriteMany"],
    "no place for the audio": [{ persistence: { enabled: false } }, "mode: cluster needs a place for the audio"],
    "secrets in two places": [
      { secrets: { ...(CLUSTER["secrets"] as object), existingSecret: "ours" } },
      "cannot both be set",
    ],
    "a secret among the settings": [{ settings: { secrets: { key: "k" } } }, "/settings/secrets"],
    "a password among the settings": [{ settings: { storage: { url: "mysql://f:p@h/f" } } }, "/settings/storage/url"],
    "no replica": [{ serve: { replicas: 0 } }, "/serve/replicas"],
    "an unknown value": [{ serve: { replica: 2 } }, "additional properties 'replica' not allowed"],
    "an unknown mode": [{ mode: "single" }, "/mode"],
    "an ingress without a host": [{ ingress: { enabled: true } }, "ingress.hosts names no host"],
  };
  for (const [name, [values, said]] of Object.entries(refused)) {
    it(`refuses ${name}`, async () => {
      expect(await helm.refusal({ ...CLUSTER, ...values })).to.include(said);
    });
  }
});
