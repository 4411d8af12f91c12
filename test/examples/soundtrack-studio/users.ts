import { createHash, randomBytes, randomUUID, scrypt, timingSafeEqual } from "node:crypto";
import type { Pool, RowDataPacket } from "mysql2/promise";

type User = RowDataPacket & { readonly id: string; readonly salt: Buffer; readonly password_hash: Buffer };

/** What a form sends. */
export type Fields = Readonly<Record<string, string>>;
export const SESSION_MS = 30 * 86_400_000;

/** An error whose message is for the user. */
export const refusal = (status: number, message: string): Error => Object.assign(new Error(message), { status });

/** The studio's own sign-in. It returns the token of a session, for a cookie; the table has a hash of it. */
export class Users {
  constructor(private readonly db: Pool) {}

  async start(): Promise<void> {
    await this.db.query(`CREATE TABLE IF NOT EXISTS studio_users (
      id CHAR(36) PRIMARY KEY, email VARCHAR(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL UNIQUE,
      salt BINARY(16) NOT NULL, password_hash BINARY(32) NOT NULL)`);
    await this.db.query(`CREATE TABLE IF NOT EXISTS studio_sessions (
      token_hash BINARY(32) PRIMARY KEY, user_id CHAR(36) NOT NULL, expires_at BIGINT NOT NULL)`);
    await this.db.execute("DELETE FROM studio_sessions WHERE expires_at < ?", [Date.now()]);
  }

  async signUp({ email = "", password = "" }: Fields): Promise<string> {
    if (!/^[^\s@]{1,64}@[^\s@]{1,189}$/.test(email)) throw refusal(400, "That is no email address.");
    if (password.length < 8) throw refusal(400, "A password has at least 8 characters.");
    const [id, salt] = [randomUUID(), randomBytes(16)];
    const row = [id, email.toLowerCase(), salt, await hashOf(password, salt)];
    const insert = "INSERT INTO studio_users (id, email, salt, password_hash) VALUES (?, ?, ?, ?)";
    await this.db.execute(insert, row).catch((error: Error & { readonly code?: string }) => {
      throw error.code === "ER_DUP_ENTRY" ? refusal(409, "This email address has an account already.") : error;
    });
    return this.openSession(id);
  }

  async signIn({ email = "", password = "" }: Fields): Promise<string> {
    const query = "SELECT * FROM studio_users WHERE email = ?";
    const [[user]] = await this.db.execute<User[]>(query, [email.toLowerCase()]);
    // An unknown address takes as long as a wrong password, so that no clock shows who has an account.
    const hash = await hashOf(password, user?.salt ?? randomBytes(16));
    if (user !== undefined && timingSafeEqual(hash, user.password_hash)) return this.openSession(user.id);
    throw refusal(401, "The email address or the password is wrong.");
  }

  private async openSession(userId: string): Promise<string> {
    const token = randomBytes(32).toString("base64url");
    const row = [sha256(token), userId, Date.now() + SESSION_MS];
    await this.db.execute("INSERT INTO studio_sessions VALUES (?, ?, ?)", row);
    return token;
  }

  /** The id of the user of a session, if there is one. @param cookies the header of a request */
  async signedIn(cookies: string | undefined): Promise<string | undefined> {
    const query = "SELECT user_id AS id FROM studio_sessions WHERE token_hash = ? AND expires_at > ?";
    return (await this.db.execute<User[]>(query, [tokenHash(cookies), Date.now()]))[0][0]?.id;
  }

  async signOut(cookies: string | undefined): Promise<void> {
    await this.db.execute("DELETE FROM studio_sessions WHERE token_hash = ?", [tokenHash(cookies)]);
  }
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
const tokenHash = (cookies = ""): Buffer => sha256(/(?:^|; )studio=([\w-]+)/.exec(cookies)?.[1] ?? "");
const hashOf = (password: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password, salt, 32, { p: 5 }, (error, hash) => (error === null ? resolve(hash) : reject(error)));
  });
