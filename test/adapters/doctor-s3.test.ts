import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { expect } from "chai";
import { checkBucket } from "../../adapters/audio/s3/doctor.js";
import { operatorAgents } from "../../config/operator-network.js";
import type { CheckResult } from "../../core/ports/self-check.js";
import { selfCheckContract } from "../contract/self-check.contract.js";
import { type S3Server, startS3Server } from "../support/s3-server.js";

describe("The doctor's checks of S3", function () {
  this.timeout(60_000);
  let server: S3Server;
  let bucket: string;
  before("start the server", async function () {
    // The first run may have to install the server.
    this.timeout(300_000);
    server = await startS3Server();
    bucket = await server.makeBucket();
  });
  after(() => server.remove());

  const check = (
    url = server.urlOf(bucket),
    secretAccessKey = server.secretAccessKey,
    givesLinks = false,
  ): Promise<readonly CheckResult[]> =>
    checkBucket({
      url,
      credentials: () => ({ accessKeyId: server.accessKeyId, secretAccessKey }),
      givesLinks,
      agents: operatorAgents,
    });

  selfCheckContract("the bucket", async () => ({
    check: () => check(),
    secrets: [server.secretAccessKey],
    close: () => Promise.resolve(),
  }));

  it("pass for a working bucket, and leave nothing in it", async () => {
    expect((await check()).map(({ name, result }) => `${name}: ${result}`)).to.deep.equal(["audio bucket: ok"]);
    expect((await server.client.send(new ListObjectsV2Command({ Bucket: bucket }))).Contents ?? []).to.deep.equal([]);
  });

  it("name the failing operation, and the missing permission", async () => {
    const [missing] = await check(server.urlOf("missing-bucket"));
    expect(missing).to.include({ result: "failed" });
    expect(missing?.message).to.include("missing-bucket").and.include("cannot be reached: NotFound (404)");
    const [wrongKey] = await check(undefined, "wrong-secret");
    expect(wrongKey?.message).to.include("(403)").and.not.include("wrong-secret");
    expect(wrongKey?.fix).to.include("s3:ListBucket");
    const [gone] = await check("s3://music?endpoint=http://127.0.0.1:1");
    expect(gone?.message).to.include("ECONNREFUSED");
  });

  it("report wrong settings", async () => {
    expect(await check("s3://music?acl=public")).to.have.lengthOf(1);
    const [half] = await checkBucket({
      url: "s3://music",
      credentials: () => {
        throw new Error("audio.accessKeyId and audio.secretAccessKey go together.");
      },
      givesLinks: true,
      agents: operatorAgents,
    });
    expect(half).to.include({ result: "failed", message: "audio.accessKeyId and audio.secretAccessKey go together." });
  });

  it("warn of links over plain http, which https pages do not play", async () => {
    expect((await check(undefined, undefined, true))[1]).to.include({ name: "audio links", result: "warning" });
  });
});
