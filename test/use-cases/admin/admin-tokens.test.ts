import { expect } from "chai";
import { type AdminTokens, authorizeOperator } from "../../../core/admin/admin-tokens.js";
import {
  AuthenticationRequiredError,
  InsufficientScopeError,
  InvalidApiKeyError,
  OperationRefusedError,
  RevokedApiKeyError,
  UnknownObjectError,
} from "../../../core/errors.js";
import { anId } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const GIVEN = "fra_a token that the settings give";

describe("Tokens of operators", () => {
  let memory: MemoryCore;
  let tokens: AdminTokens;
  beforeEach(async () => {
    memory = await memoryCore({ options: { adminToken: "settings-token" } });
    tokens = memory.core.adminTokens;
  });
  const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
  const issue = (given: Partial<Parameters<AdminTokens["issue"]>[0]> = {}): ReturnType<AdminTokens["issue"]> =>
    tokens.issue({ name: "alice", role: "operate", ...given });

  it("are shown once, and listed without them, the newest first", async () => {
    const { token, shown } = await issue({ expiresAt: memory.clock.now() + 1_000 });
    expect(token.startsWith("fra_")).to.equal(true);
    expect(token.startsWith(shown.shownPrefix)).to.equal(true);
    expect(shown).to.include({ name: "alice", role: "operate", revokedAt: null, createdAt: memory.clock.now() });
    expect(shown).not.to.have.property("tokenHash");
    await memory.clock.advance(1);
    const second = await issue({ name: "bob" });
    expect(await tokens.list()).to.deep.equal([second.shown, shown]);
    const [record] = await memory.storage.auditLog.list({ limit: 1 });
    expect(record).to.deep.include({
      action: "admin_tokens.issue",
      accountId: null,
      targets: [second.shown.id],
      fields: { name: "bob", role: "operate", expires_at: null },
    });
  });

  it("are not issued with a name, role or end that cannot be", async () => {
    for (const given of [{ name: "" }, { name: "x".repeat(61) }, { role: "root" }, { expiresAt: memory.clock.now() }])
      expect(await failure(issue(given)), JSON.stringify(given)).to.be.instanceOf(OperationRefusedError);
    expect(String(await failure(issue({ role: "root" })))).to.include("Roles are read, operate, owner; got root.");
    expect(await tokens.list()).to.deep.equal([]);
    await issue({ name: "x".repeat(60) });
  });

  it("are issued once, also when the reply to the commit is lost", async () => {
    const { core } = await memoryCore({
      ports: ({ unitOfWork }) => ({
        unitOfWork: new FaultyPort(unitOfWork).on("inTransaction", async (run, work) => {
          await run(work);
          return run((tx) => work(tx, { isRetry: true }));
        }),
      }),
    });
    await core.adminTokens.issue({ name: "alice", role: "read" });
    expect(await core.adminTokens.list()).to.have.length(1);
  });

  it("tell whose a request is", async () => {
    const { token } = await issue();
    for (const header of [`Bearer ${token}`, `bearer   ${token}  `])
      expect(await tokens.identify(header)).to.deep.equal({ name: "alice", role: "operate" });
    expect(await tokens.identify("Bearer settings-token")).to.deep.equal({ name: "admin.token", role: "owner" });
    for (const header of [undefined, "", token, "Bearer", `Basic ${token}`, `x Bearer ${token}`, `Bearer ${token} x`])
      expect(await failure(tokens.identify(header)), header).to.be.instanceOf(AuthenticationRequiredError);
    expect(String(await failure(tokens.identify(undefined)))).to.include("Authorization: Bearer");
    const { token: unknown } = await (await memoryCore()).core.adminTokens.issue({ name: "eve", role: "owner" });
    for (const wrong of [`${unknown.slice(0, -1)}!`, "frm_x", GIVEN.replaceAll(" ", "")])
      expect(await failure(tokens.identify(`Bearer ${wrong}`))).to.be.instanceOf(InvalidApiKeyError);
  });

  it("are none of the settings where those give none", async () => {
    const { core } = await memoryCore();
    expect(await failure(core.adminTokens.identify("Bearer settings-token"))).to.be.instanceOf(InvalidApiKeyError);
  });

  it("end when they are revoked, or at their end", async () => {
    const { token, shown } = await issue({ expiresAt: memory.clock.now() + 1_000 });
    await memory.clock.advance(999);
    expect(await tokens.identify(`Bearer ${token}`)).to.include({ name: "alice" });
    await memory.clock.advance(1);
    const expired = await failure(tokens.identify(`Bearer ${token}`));
    expect(expired).to.be.instanceOf(RevokedApiKeyError);
    expect(String(expired)).to.include("The admin token has expired.");
    await tokens.revoke(shown.id);
    await memory.clock.advance(1_000);
    expect(String(await failure(tokens.identify(`Bearer ${token}`)))).to.include("The admin token was revoked.");
    expect((await tokens.list())[0]).to.include({ revokedAt: memory.clock.now() - 1_000 });
    const [record] = await memory.storage.auditLog.list({ limit: 1 });
    expect(record).to.deep.include({ action: "admin_tokens.revoke", targets: [shown.id], accountId: null });
    await tokens.revoke(shown.id);
    for (const id of [anId("adm"), anId("key")]) {
      const unknown = await failure(tokens.revoke(id));
      expect(unknown).to.be.instanceOf(UnknownObjectError);
      expect(String(unknown)).to.include(`There is no admin token ${id}.`);
    }
  });

  it("allow what their role does, and what lesser roles do", () => {
    const roles = ["read", "operate", "owner"] as const;
    for (const [has, role] of roles.entries()) {
      for (const [needs, needed] of roles.entries()) {
        const authorize = (): void => authorizeOperator({ name: "alice", role }, needed);
        if (has >= needs) expect(authorize, `${role} ${needed}`).not.to.throw();
        else
          expect(authorize, `${role} ${needed}`).to.throw(InsufficientScopeError, `has the role ${role}; this needs`);
      }
    }
  });
});
