/** What `audio.url` says of an object store. */
export interface S3Place {
  readonly bucket: string;
  /** In front of every key, without a slash at either end; empty for none. */
  readonly prefix: string;
  /** null: from the environment or the profile, as the SDK finds it. */
  readonly region: string | null;
  /** null: AWS itself. */
  readonly endpoint: string | null;
  /** Whether the bucket is in the path of a URL, not in its host name. */
  readonly pathStyle: boolean;
}

const FORM = "s3://BUCKET/PREFIX?region=REGION&endpoint=URL&pathStyle=true";
const PARAMETERS = ["region", "endpoint", "pathStyle"];
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** As keys are, so that no name has to be encoded. */
const PREFIX = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*(\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$/;

/** Signatures name a region; servers of one's own mostly have this one. */
const OWN_REGION = "us-east-1";

/** @throws {Error} naming the issue and the allowed values */
export function readS3Url(text: string): S3Place {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.protocol !== "s3:" || url.hash !== "")
    throw new Error(`The URL of the audio store has the form ${FORM}.`);
  if (url.username !== "" || url.password !== "") {
    throw new Error(
      "The URL of the audio store has no user or password: set audio.accessKeyId and audio.secretAccessKey, or " +
        "use the AWS environment.",
    );
  }
  if (!BUCKET.test(url.host))
    throw new Error("The bucket in the URL of the audio store is 3 to 63 lower-case letters, digits, - and .");
  const prefix = url.pathname.replace(/^\/|\/$/g, "");
  if (prefix !== "" && (!PREFIX.test(prefix) || prefix.length > 200)) {
    throw new Error(
      "The prefix in the URL of the audio store is up to 200 letters, digits, _ . and -, in parts joined by /",
    );
  }
  for (const name of url.searchParams.keys()) {
    if (!PARAMETERS.includes(name))
      throw new Error(
        `The URL of the audio store has no parameter ${JSON.stringify(name)}; it has ${PARAMETERS.join(", ")}.`,
      );
  }
  const endpoint = url.searchParams.get("endpoint");
  return {
    bucket: url.host,
    prefix,
    region: readRegion(url.searchParams.get("region")) ?? (endpoint === null ? null : OWN_REGION),
    endpoint: endpoint === null ? null : readEndpoint(endpoint),
    pathStyle: readFlag(url.searchParams.get("pathStyle")) ?? endpoint !== null,
  };
}

function readRegion(text: string | null): string | null {
  if (text === null || /^[A-Za-z0-9-]{1,50}$/.test(text)) return text;
  throw new Error("The region in the URL of the audio store is up to 50 letters, digits and -");
}

function readEndpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isGood =
    (url?.protocol === "https:" || url?.protocol === "http:") &&
    url.username === "" &&
    url.password === "" &&
    url.search === "" &&
    url.hash === "";
  if (url !== null && isGood) return url.href.replace(/\/+$/, "");
  throw new Error(
    "The endpoint in the URL of the audio store is an http:// or https:// URL without user, query and fragment.",
  );
}

function readFlag(text: string | null): boolean | null {
  if (text === null) return null;
  if (text === "true" || text === "false") return text === "true";
  throw new Error("The pathStyle in the URL of the audio store is true or false.");
}
