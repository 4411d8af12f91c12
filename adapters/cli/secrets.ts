import type { Command } from "commander";
import type { SecretsStatus } from "../../core/secrets/rotate-secrets.js";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, callable, iso, print, table, withApp, withProgress } from "./output.js";

/** `secrets …`. */
export function addSecretCommands(program: Command, host: CliHost): void {
  const secrets = addGroup(program, "secrets", "Rotate the secret key that signs links and seals stored secrets");
  addCommand(secrets, "rotate", "Bring a new key into force; the old one is accepted until `secrets retire`", [
    "secrets rotate",
  ]).action(async (options: { json?: boolean }) => {
    const { current, previous, rotatedAt } = await withApp(host, (app) => app.secrets.rotate());
    print(host, options, { current, previous, rotated_at: iso(rotatedAt) }, [
      callable(
        host,
        `The key ${current} signs and seals from now on; ${previous} is accepted until \`fermata secrets retire\`.`,
      ),
      "Processes on this machine use it within seconds. Copy the file secret.key to other machines that share the " +
        "storage.",
    ]);
  });
  addCommand(secrets, "status", "Show which keys are in force, and how many rows are sealed with each", [
    "secrets status",
    "secrets status --json",
  ]).action(async (options: { json?: boolean }) => {
    const status = await withApp(host, (app) => app.secrets.status());
    print(host, options, presentStatus(status), describeStatus(status));
  });
  addCommand(secrets, "retire", "Drop the old key: links that it signed end at once", [
    "secrets retire",
    "secrets retire --force",
  ])
    .option("--force", "also when stored secrets need the old key and cannot be sealed again: they are lost")
    .action(async (options: { force?: boolean; json?: boolean }) => {
      const { state, retired, lost } = await withApp(host, (app) =>
        withProgress(host, "Sealing stored secrets with the current key", () =>
          app.secrets.retire({ force: options.force === true }, new AbortController().signal),
        ),
      );
      print(host, options, { current: state.current, retired, lost }, [
        `${state.current} is the only key in force${retired.length === 0 ? "" : `; retired: ${retired.join(", ")}`}.`,
        ...lost.map((id) => `lost  the secret of ${id}`),
      ]);
    });
}

function presentStatus(status: SecretsStatus): object {
  const { state, keys, origin, place } = status;
  return {
    keys: keys.map(({ id, role, sealedRows }) => ({ id, role, sealed_rows: sealedRows })),
    accepts_without_key_id: state.unnamed !== null,
    rotated_at: iso(state.rotatedAt),
    origin,
    place,
  };
}

function describeStatus(status: SecretsStatus): string[] {
  const { state, keys, place } = status;
  return [
    ...table(keys.map(({ id, role, sealedRows }) => [id, role, `${sealedRows} sealed rows`])),
    ...(state.unnamed === null
      ? []
      : ["Links of earlier versions, without a key id, are accepted until `secrets retire`."]),
    ...(state.rotatedAt === null ? [] : [`Rotated at ${iso(state.rotatedAt)}.`]),
    `The keys are in ${place}.`,
  ];
}
