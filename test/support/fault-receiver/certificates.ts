import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import * as der from "./der.js";

const ECDSA_SHA256 = der.sequence(der.oid("1.2.840.10045.4.3.2"));
const COMMON_NAME = "2.5.4.3";
const BASIC_CONSTRAINTS = "2.5.29.19";
const KEY_USAGE = "2.5.29.15";
const SUBJECT_KEY_ID = "2.5.29.14";
const AUTHORITY_KEY_ID = "2.5.29.35";
const ALTERNATIVE_NAMES = "2.5.29.17";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const SERVER_AUTHENTICATION = "1.3.6.1.5.5.7.3.1";

const DAY_MS = 86_400_000;

/** In PEM, as TLS servers need them. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  /** The names and addresses that it is valid for. */
  readonly names: readonly string[];
  /** Valid from a day ago for ten days, unless it is expired. */
  readonly validFrom?: Date;
  readonly validTo?: Date;
}

/**
 * An authority that no client trusts by default. Keys and certificates are created at every start, so that none is in
 * the repository.
 */
export class CertificateAuthority {
  /** Its own certificate in PEM, to be trusted by the sender under test. */
  readonly cert: string;
  private readonly keys = newKeys();

  constructor(private readonly name = "Fermata fault receiver, for tests only") {
    this.cert = certificate({
      subject: name,
      issuer: name,
      subjectKeys: this.keys,
      issuerKeys: this.keys,
      extensions: authorityExtensions(),
    });
  }

  issue(options: CertificateOptions): Certificate {
    const keys = newKeys();
    const cert = certificate({
      ...serverOptions(options),
      issuer: this.name,
      subjectKeys: keys,
      issuerKeys: this.keys,
    });
    return { cert: `${cert}${this.cert}`, key: pemOf(keys.privateKey) };
  }
}

/** A self-signed certificate. */
export function selfSigned(options: CertificateOptions): Certificate {
  const keys = newKeys();
  const server = serverOptions(options);
  return {
    cert: certificate({ ...server, issuer: server.subject, subjectKeys: keys, issuerKeys: keys }),
    key: pemOf(keys.privateKey),
  };
}

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

interface Contents {
  readonly subject: string;
  readonly issuer: string;
  readonly subjectKeys: Keys;
  readonly issuerKeys: Keys;
  readonly extensions: readonly Buffer[];
  readonly validFrom?: Date | undefined;
  readonly validTo?: Date | undefined;
}

function serverOptions({
  names,
  validFrom,
  validTo,
}: CertificateOptions): Pick<Contents, "subject" | "extensions" | "validFrom" | "validTo"> {
  const alternatives = names.map((name) =>
    isIP(name) === 0
      ? der.implicit(2, Buffer.from(name, "latin1"))
      : der.implicit(7, Buffer.from(ipaddr.parse(name).toByteArray())),
  );
  const extensions = [
    extension(ALTERNATIVE_NAMES, der.sequence(...alternatives)),
    extension(EXTENDED_KEY_USAGE, der.sequence(der.oid(SERVER_AUTHENTICATION))),
  ];
  return { subject: names[0] ?? "unknown", extensions, validFrom, validTo };
}

function authorityExtensions(): Buffer[] {
  return [
    extension(BASIC_CONSTRAINTS, der.sequence(der.boolean(true)), true),
    extension(KEY_USAGE, der.bits(Buffer.from([0b0000_0110]), 1), true), // signs certificates and revocation lists
  ];
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  return der.sequence(der.oid(id), ...(isCritical ? [der.boolean(true)] : []), der.octets(value));
}

/** RFC 5280, 4.1. */
function certificate(contents: Contents): string {
  const now = Date.now();
  const {
    subject,
    issuer,
    subjectKeys,
    issuerKeys,
    extensions,
    validFrom = new Date(now - DAY_MS),
    validTo = new Date(now + 10 * DAY_MS),
  } = contents;
  const serial = randomBytes(16);
  serial[0] = ((serial[0] as number) & 0x7f) | 0x40;
  const signed = der.sequence(
    der.explicit(0, der.integer(2)), // version 3
    der.integer(serial),
    ECDSA_SHA256,
    named(issuer),
    der.sequence(der.time(validFrom), der.time(validTo)),
    named(subject),
    subjectKeys.publicKey.export({ type: "spki", format: "der" }),
    der.explicit(
      3,
      der.sequence(
        ...extensions,
        extension(SUBJECT_KEY_ID, der.octets(keyId(subjectKeys))),
        extension(AUTHORITY_KEY_ID, der.sequence(der.implicit(0, keyId(issuerKeys)))),
      ),
    ),
  );
  const signature = sign("sha256", signed, { key: issuerKeys.privateKey, dsaEncoding: "der" });
  const whole = der.sequence(signed, ECDSA_SHA256, der.bits(signature));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function named(commonName: string): Buffer {
  return der.sequence(der.set(der.sequence(der.oid(COMMON_NAME), der.text(commonName))));
}

function keyId({ publicKey }: Keys): Buffer {
  return createHash("sha1")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest();
}

function newKeys(): Keys {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
