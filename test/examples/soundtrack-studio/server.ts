import express, { type NextFunction, type Request, type Response } from "express";
import { compose, FermataError, loadSettings } from "fermata-music";
import { createPool } from "mysql2/promise";
import { Orders } from "./orders.js";
import { ENTRANCE, ICON, STUDIO, STYLE } from "./page.js";
import { type Fields, refusal, SESSION_MS, Users } from "./users.js";

const port = Number(process.env["PORT"] ?? 3000);
const url = process.env["STUDIO_URL"] ?? `http://127.0.0.1:${port}`;
const overrides = { http: { publicUrl: `${url}/music` } }; // where links to audio lead
const settings = loadSettings({ env: process.env, cwd: process.cwd(), overrides });

const db = createPool(settings.storage.url); // the studio's tables are in Fermata's database
const users = new Users(db);
const fermata = await compose(settings, {
  actor: "soundtrack-studio",
  authenticate: async ({ headers }) => {
    const userId = await users.signedIn(headers.cookie);
    if (userId === undefined) return null;
    // Reads alone: what costs credits is bought by an order.
    return { accountId: await orders.accountOf(userId), scopes: ["generations:read", "library:read"] };
  },
});
const orders = new Orders(db, fermata);
await users.start();
await orders.start();

const POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const HEADERS = { "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store" };
const site = express().disable("x-powered-by");
site.use("/music", fermata.router); // before any body parser
site.use((_request, response, next) => next(void response.set(HEADERS)));
site.use(express.json());
site.get("/page.css", (_request, response) => void response.type("css").send(STYLE));
site.get("/icon.svg", (_request, response) => void response.type("svg").send(ICON));
site.get("/client.js", (_request, response) => response.sendFile("client.js", { root: import.meta.dirname }));
site.get("/", async ({ headers }, response) => {
  response.send((await users.signedIn(headers.cookie)) === undefined ? ENTRANCE : STUDIO);
});

const secure = url.startsWith("https:"); // and sameSite: no form of another site sends the cookie
const openSession = (response: Response, token: string): unknown =>
  response.cookie("studio", token, { httpOnly: true, sameSite: "lax", secure, maxAge: SESSION_MS }).json({});
const fieldsOf = ({ body }: Request): Fields =>
  Object.fromEntries(Object.entries((body ?? {}) as object).map(([name, value]) => [name, String(value)]));
site.post("/sign-up", async (request, response) => openSession(response, await users.signUp(fieldsOf(request))));
site.post("/sign-in", async (request, response) => openSession(response, await users.signIn(fieldsOf(request))));

/** Serves users who have signed in. */
function serve(method: "get" | "post", path: string, work: (userId: string, request: Request) => Promise<unknown>) {
  site[method](path, async (request, response) => {
    const userId = await users.signedIn(request.headers.cookie);
    if (userId === undefined) throw refusal(401, "Sign in first.");
    response.json((await work(userId, request)) ?? {});
  });
}
serve("get", "/orders", (userId) => orders.list(userId));
serve("post", "/orders", (userId, request) => orders.place(userId, fieldsOf(request)));
serve("post", "/orders/:id/split", (userId, { params }) => orders.split(userId, String(params["id"])));
serve("post", "/sign-out", (_userId, { headers }) => users.signOut(headers.cookie));

site.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
  // What Fermata refuses, it refuses in words that are safe to show.
  const { status = FermataError.is(error) ? 422 : 500, message } = error as { status?: number; message: string };
  if (status === 500) console.error(error);
  response.status(status).json({ error: status === 500 ? "Something went wrong. Try again later." : message });
});

const server = site.listen(port, "127.0.0.1", (error) => {
  if (error !== undefined) throw error;
  console.log(url);
});
await fermata.work();
async function stop(): Promise<void> {
  server.close();
  await fermata.stop(); // waits for a listener that runs
  server.closeAllConnections(); // a player may keep one for long
  await db.end();
}
process.once("SIGTERM", () => void stop());
