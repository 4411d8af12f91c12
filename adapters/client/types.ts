import type { components, paths } from "./generated/api.js";

/** The resources and requests of the API, by name: `Schemas["Generation"]`. */
export type Schemas = components["schemas"];

export type Method = "get" | "post" | "put" | "patch" | "delete";

type Operation<Path extends keyof paths, M extends Method> = paths[Path] extends { [K in M]: infer O } ? O : never;

/** 204 where there is no other one. */
type Success<O> = O extends { responses: infer R }
  ? [keyof R & (200 | 201 | 202)] extends [never]
    ? R[keyof R & 204]
    : R[keyof R & (200 | 201 | 202)]
  : never;

/** Distributes over the members of a union, of which `never` has none. */
type JsonData<S> = S extends { content: { "application/json": { data: infer Data } } }
  ? Data
  : S extends { content?: never }
    ? object
    : never;

/** The `data` of a successful response; an empty object where it has no body. */
export type DataOf<Path extends keyof paths, M extends Method> = JsonData<Success<Operation<Path, M>>>;

/** The paths that have an operation of this method whose response is JSON, or has no body. */
export type PathsOf<M extends Method> = {
  [Path in keyof paths]: [DataOf<Path, M>] extends [never] ? never : Path;
}[keyof paths];

type RequiredOf<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T];
type Given<T> = { [K in keyof T as T[K] extends undefined ? never : K]: T[K] };
/** Optional where it has nothing that must be there. */
type Named<Name extends string, T> = RequiredOf<T> extends never ? { [K in Name]?: T } : { [K in Name]: T };

type Params<O> = O extends { parameters: infer P } ? Named<"params", Given<Omit<P, "cookie">>> : object;

type Content<C> = C extends { "application/json": infer Json } ? Json : never;
/** Forms are in the served description alone; the types come from the one that the build writes. */
interface Forms {
  readonly "/api/v1/tracks": FormData;
}
type Body<Path, O> = Path extends keyof Forms
  ? { body: Forms[Path] }
  : O extends { requestBody?: never }
    ? object
    : O extends { requestBody: { content: infer C } }
      ? { body: Content<C> }
      : O extends { requestBody?: { content: infer C } }
        ? { body?: Content<C> }
        : object;

/** What every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Parameters and body of an operation, as its description has them. */
export type InitOf<Path extends keyof paths, M extends Method> = Params<Operation<Path, M>> &
  Body<Path, Operation<Path, M>> &
  CallOptions;

type InitArgs<Init> = RequiredOf<Init> extends never ? [init?: Init] : [init: Init];

/**
 * Calls an operation by its path, such as `"/api/v1/tracks/{id}"`.
 *
 * @returns the `data` of the response
 * @throws {FermataError} the response is an error, or none came
 */
export type Call<M extends Method> = <Path extends PathsOf<M>>(
  path: Path,
  ...init: InitArgs<InitOf<Path, M>>
) => Promise<DataOf<Path, M>>;
