import { signal } from "@preact/signals";
import { BASE_URL } from "../../parts/base.js";
import type { ApiDocument } from "./document.js";
import { type Group, groupsOf, type Operation } from "./operations.js";

export interface Description {
  readonly document: ApiDocument;
  readonly groups: readonly Group[];
}

/** Undefined until it has come; an error when it cannot be read. */
export const description = signal<Description | Error | undefined>(undefined);

export async function loadDescription(): Promise<void> {
  try {
    const response = await fetch(`${BASE_URL}openapi.json`);
    if (!response.ok) throw new Error(`The server responded with ${response.status}.`);
    const document = (await response.json()) as ApiDocument;
    description.value = { document, groups: groupsOf(document) };
  } catch (error) {
    description.value = new Error(`The description of the API cannot be read. ${(error as Error).message}`);
  }
}

/** @param id of its address */
export function findOperation({ groups }: Description, id: string, isEvent: boolean): Operation | undefined {
  return groups
    .flatMap(({ operations }) => operations)
    .find((operation) => operation.id === id && operation.isEvent === isEvent);
}
