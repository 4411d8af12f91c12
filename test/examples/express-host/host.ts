import express from "express";
import { compose, loadSettings } from "fermata-music";

// The site's own port is PORT; Fermata's settings are read from fermata.yaml and FERMATA_… as always.
const port = Number(process.env["PORT"] ?? 3000);
const overrides = { http: { publicUrl: `http://127.0.0.1:${port}/music` } }; // where links to audio lead
const fermata = await compose(loadSettings({ env: process.env, cwd: process.cwd(), overrides }));
const alice = await fermata.accounts.ensure({ externalId: "alice", acceptTerms: true });
await fermata.credits.grant(alice.id, 100, { reference: "welcome alice" }); // once, however often this starts
const { token } = await fermata.accounts.issueKey(alice.id);

const site = express();
site.get("/", (_request, response) => void response.send("A site with music of its own."));
site.use("/music", fermata.router);
const server = site.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port} ${token}`));
await fermata.work();
process.once("SIGTERM", () => {
  server.close();
  void fermata.stop();
});
