import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { checkTrustedProxies } from "../../config/doctor-proxies.js";
import { loadSettings } from "../../config/load.js";
import { stopMaxMs } from "../../config/stop-signal.js";
import { describeSettings, type Settings } from "../../config/settings.js";
import { refusalOf, wordsOf } from "../support/command-line.js";
import {
  type ComposeSubnet,
  interpolated,
  readCompose,
  readDockerfile,
  readExample,
  readUnit,
} from "../support/examples.js";
import { repositoryPath } from "../support/repository.js";

/** For values from the environment: long enough for a key, and valid in a URL. */
const SAMPLE = "sample-".repeat(6);

const SETTINGS_FILES = ["embedded.yaml", "mysql-rabbitmq.yaml", "s3.yaml"];

/** After SIGTERM a process with these settings ends within this time in any case. */
function stopMaxSeconds({ jobs }: Settings): number {
  return stopMaxMs(jobs.drainSeconds * 1000) / 1000;
}

function load(file: string, env: Readonly<Record<string, string>> = {}): Settings {
  return loadSettings({
    env: { ...env, FERMATA_CONFIG: file },
    cwd: "/",
    readFile: () => readExample(file),
    isTerminal: false,
  });
}

describe("The settings files of config/", () => {
  for (const file of SETTINGS_FILES) {
    it(`load: ${file}`, () => {
      const { storage, queue } = load(file);
      const schemes = [storage.url, queue.url].map((url) => url.slice(0, url.indexOf(":")));
      expect(schemes).to.deep.equal(file === "embedded.yaml" ? ["sqlite", "memory"] : ["mysql", "amqp"]);
    });

    it(`hold no secret: ${file}`, () => {
      const settings = load(file);
      for (const { path } of describeSettings().filter(({ secret }) => secret)) {
        const value = path.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], settings);
        expect(value, path).to.equal(null);
      }
      for (const url of [settings.storage.url, settings.queue.url]) expect(new URL(url).password, url).to.equal("");
    });
  }

  it("trust X-Forwarded-For from no shared network", () => {
    for (const file of SETTINGS_FILES) {
      expect(checkTrustedProxies(load(file).http), file).to.include({ result: "ok" });
    }
  });

  it("are the only ones", () => {
    const files = readdirSync(repositoryPath("config")).filter((name) => name.endsWith(".yaml"));
    expect(files.sort()).to.deep.equal(["compose.yaml", ...SETTINGS_FILES]);
  });
});

/** The commands of Fermata that the comments of a file show, as words behind `fermata`. */
function commandsIn(file: string): string[] {
  return [...readExample(file).matchAll(/^#.* exec \w+ fermata (.+)$/gm)].map(([, words]) => words as string);
}

describe("config/compose.yaml", () => {
  it("shows how the first account and its key are created in the container of a service that runs", async () => {
    const shown = commandsIn("compose.yaml");
    expect(shown).to.deep.equal(["accounts create alice --tier plus --accept-terms --credits 100 --key"]);
    for (const line of shown) expect(await refusalOf(wordsOf(line))).to.equal(null);
    expect(readExample("compose.yaml")).to.include(" exec serve fermata ");
  });

  it("shows commands of services that it has, with every variable that it requires", () => {
    const shown = [...readExample("compose.yaml").matchAll(/^# {3}docker compose -f (\S+) (.+)$/gm)];
    expect(shown).to.have.lengthOf(4);
    for (const [line, file = "", words = ""] of shown) {
      expect(existsSync(repositoryPath(file)), line).to.equal(true);
      const named = [...words.matchAll(/(?:\brun --rm|\bexec|--scale) (\w+)/g)].map(([, name]) => name);
      for (const name of named) expect(services, line).to.have.property(name as string);
    }
    const exported = [...readExample("compose.yaml").matchAll(/^# {3}export (.+)$/gm)].flatMap(([, words = ""]) =>
      [...words.matchAll(/(\w+)=/g)].map(([, name]) => name),
    );
    const required = [...readExample("compose.yaml").matchAll(/\$\{(\w+):\?\}/g)].map(([, name]) => name);
    expect(new Set(exported)).to.deep.equal(new Set(required));
  });

  const { services, volumes, networks } = readCompose();
  const ours = Object.entries(services).filter(([, { image }]) => image === "fermata");

  it("gives Fermata's services settings that load on top of the mounted file", () => {
    expect(ours.map(([name]) => name)).to.deep.equal(["migrate", "serve", "work", "doctor"]);
    for (const [, { environment = {}, volumes: mounts = [] }] of ours) {
      const env = Object.fromEntries(
        Object.entries(environment).map(([name, text]) => [name, interpolated(text, SAMPLE)]),
      );
      expect(mounts).to.include(`./mysql-rabbitmq.yaml:${env["FERMATA_CONFIG"]}:ro`);
      const settings = load("mysql-rabbitmq.yaml", env);
      expect(new URL(settings.storage.url)).to.include({ hostname: "mysql", password: SAMPLE });
      expect(new URL(settings.queue.url)).to.include({ hostname: "rabbitmq", password: SAMPLE });
      expect(settings.secrets.key).to.equal(SAMPLE);
    }
  });

  it("takes every password and key from the environment, and requires each", () => {
    for (const [service, { environment = {} }] of Object.entries(services)) {
      for (const [name, value] of Object.entries(environment)) {
        if (/PASS$|PASSWORD$|KEY$|STORAGE__URL$|QUEUE__URL$/.test(name) && value !== "yes") {
          expect(value, `${service}: ${name}`).to.match(/\$\{\w+:\?\}/);
        }
      }
    }
  });

  it("runs commands that exist", async () => {
    for (const [name, { command = [] }] of ours) {
      expect(command, name).to.have.lengthOf(1);
      expect(await refusalOf(command), name).to.equal(null);
    }
  });

  it("migrates before serve and work start, and waits for its services", () => {
    for (const [name, { depends_on: awaited = {} }] of Object.entries(services)) {
      for (const other of Object.keys(awaited)) expect(services, name).to.have.property(other);
    }
    for (const name of ["serve", "work"]) {
      expect(services[name]?.depends_on?.["migrate"], name).to.deep.equal({
        condition: "service_completed_successfully",
      });
    }
  });

  it("checks the health only of services that listen", () => {
    for (const [name, { healthcheck }] of ours) expect(healthcheck?.disable ?? false, name).to.equal(name !== "serve");
  });

  it("names existing files and volumes", () => {
    for (const { build, volumes: mounts = [] } of Object.values(services)) {
      if (build !== undefined)
        expect(existsSync(repositoryPath("config", build.context, build.dockerfile)), build.dockerfile).to.equal(true);
      for (const [source = ""] of mounts.map((mount) => mount.split(":"))) {
        if (source.startsWith(".")) expect(existsSync(repositoryPath("config", source)), source).to.equal(true);
        else expect(volumes).to.have.property(source);
      }
    }
  });

  it("limits the memory, the processes and the temporary files of every container", () => {
    for (const [name, { mem_limit: memory, pids_limit: processes, tmpfs = [] }] of Object.entries(services)) {
      expect(memory, name).to.match(/^\d+g$/);
      expect(processes, name).to.be.within(64, 1024);
      for (const mount of tmpfs) expect(mount, name).to.match(/^\/tmp:size=\d+m,/);
    }
    for (const [name, { tmpfs }] of ours) expect(tmpfs, name).to.have.lengthOf(1);
  });

  it("pins third-party images by their exact versions", () => {
    for (const [name, { image }] of Object.entries(services)) {
      if (image !== "fermata") expect(image, name).to.match(/^[\w./-]+:\d+\.\d+\.\d+[\w.-]*$/);
    }
  });

  it("trusts X-Forwarded-For only from the gateway, the address of a local load balancer", () => {
    const { gateway } = networks["default"]?.ipam.config[0] as ComposeSubnet;
    for (const [name, { environment }] of ours) {
      expect(environment?.["FERMATA_HTTP__TRUST_PROXY"], name).to.equal(gateway);
    }
  });

  it("gives a Fermata process enough time to stop", () => {
    for (const [name, { stop_grace_period: grace = "" }] of ours) {
      expect(grace, name).to.match(/^\d+s$/);
      expect(Number.parseInt(grace, 10), name).to.be.greaterThan(stopMaxSeconds(load("mysql-rabbitmq.yaml")));
    }
  });
});

describe("config/Dockerfile", () => {
  const instructions = readDockerfile();
  const of = (name: string): string[] =>
    instructions.filter((instruction) => instruction.name === name).map(({ rest }) => rest);
  const last = (name: string): string => of(name).at(-1) ?? "";

  it("builds on images with the tag of an exact version", () => {
    const [, image = ""] = /^NODE=(\S+)$/.exec(of("ARG")[0] ?? "") ?? [];
    expect(image).to.match(/^node:20\.\d+\.\d+-[\w.-]+$/);
    for (const from of of("FROM")) expect(from).to.match(/^\$\{NODE\}( AS \w+)?$/);
  });

  it("copies existing files that are in the build context", () => {
    const seen = readExample("Dockerfile.dockerignore").split("\n");
    const sources = of("COPY")
      .filter((rest) => !rest.startsWith("--from"))
      .flatMap((rest) => rest.split(" ").slice(0, -1));
    expect(sources).to.include.members(["package.json", "core"]);
    for (const source of sources) {
      expect(existsSync(repositoryPath(source)), source).to.equal(true);
      expect(seen, source).to.include(`!${source}`);
    }
  });

  it("starts the program itself, with a command that exists, and not as root", async () => {
    const entry = JSON.parse(last("ENTRYPOINT")) as string[];
    // By a first process that passes signals on, and ends by one that comes before Node listens for signals.
    expect(entry.slice(0, 3)).to.deep.equal(["/usr/bin/tini", "--", "node"]);
    expect(of("COPY")).to.include("--from=build /usr/bin/tini-static /usr/bin/tini");
    expect(entry.at(-1)).to.equal("/app/dist/config/main.js");
    expect(existsSync(repositoryPath("config", "main.ts"))).to.equal(true);
    expect(await refusalOf(JSON.parse(last("CMD")) as string[])).to.equal(null);
    // By number: Kubernetes sees then that it is not root.
    expect(last("USER")).to.equal("1000:1000");
    expect(last("STOPSIGNAL")).to.equal("SIGTERM");
  });

  it("says what it is, in the version of the package", () => {
    const { version, license } = JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as {
      readonly version: string;
      readonly license: string;
    };
    expect(of("ARG")).to.include(`VERSION=${version}`);
    const labels = last("LABEL");
    expect(labels).to.include('org.opencontainers.image.version="${VERSION}"');
    expect(labels).to.include(`org.opencontainers.image.licenses="${license}"`);
  });

  it("has the command on its PATH, for `docker exec`", async () => {
    expect(of("RUN").some((line) => line.includes("chmod +x dist/config/main.js"))).to.equal(true);
    expect(of("RUN").some((line) => line.includes("ln -s /app/dist/config/main.js /usr/local/bin/fermata"))).to.equal(
      true,
    );
    const shown = commandsIn("Dockerfile");
    expect(shown).to.have.length(1);
    for (const line of shown) expect(await refusalOf(wordsOf(line))).to.equal(null);
  });

  it("documents a run command with enough time to stop", () => {
    const [, timeout = ""] = /docker run .*--stop-timeout (\d+) /.exec(readExample("Dockerfile")) ?? [];
    expect(Number(timeout)).to.be.greaterThan(stopMaxSeconds(loadSettings({ env: {}, cwd: "/", isTerminal: false })));
  });

  it("sets existing settings, and keeps its data on the volume", () => {
    const env = Object.fromEntries(
      [...last("ENV").matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name as string, value as string]),
    );
    const { dataDir } = loadSettings({ env, cwd: "/", isTerminal: false });
    expect(JSON.parse(last("VOLUME"))).to.deep.equal([dataDir]);
    expect(of("RUN").at(-1)).to.match(new RegExp(`--owner=node .*${dataDir}$`));
  });
});

describe("config/systemd", () => {
  const units = readdirSync(repositoryPath("config", "systemd")).filter((name) => name.endsWith(".service"));

  it("has a unit for each way to run", () => {
    expect(units.sort()).to.deep.equal([
      "fermata-migrate.service",
      "fermata-serve.service",
      "fermata-work@.service",
      "fermata.service",
    ]);
  });

  for (const unit of units) {
    const lines = readUnit(unit);
    const valueOf = (key: string): string => lines.find(([found]) => found === key)?.[1] ?? "";

    it(`runs an existing command, with the environment file of this folder: ${unit}`, async () => {
      const [node, main, ...command] = valueOf("ExecStart").split(" ");
      expect([node, main]).to.deep.equal(["/usr/bin/node", "/opt/fermata/dist/config/main.js"]);
      expect(await refusalOf(command)).to.equal(null);
      expect(valueOf("EnvironmentFile")).to.equal("/etc/fermata/fermata.env");
    });

    it(`has enough time to stop, and is restarted unless settings are wrong: ${unit}`, () => {
      const isOnce = valueOf("Type") === "oneshot";
      expect([valueOf("Restart"), valueOf("RestartPreventExitStatus")]).to.deep.equal(
        isOnce ? ["", ""] : ["on-failure", "2"],
      );
      if (isOnce) return;
      // A server without workers has nothing to drain.
      const hasWorkers = !valueOf("ExecStart").endsWith(" serve");
      const needed = hasWorkers ? SETTINGS_FILES.map((file) => stopMaxSeconds(load(file))) : [stopMaxMs(0) / 1000];
      expect(Number(valueOf("TimeoutStopSec"))).to.be.greaterThan(Math.max(...needed));
    });

    it(`has the same sandboxing as the others: ${unit}`, () => {
      const fence = (name: string): string => /^User=[^[]*/m.exec(readExample("systemd", name))?.[0].trim() ?? "";
      expect(fence(unit)).to.include("NoNewPrivileges=yes").and.include("ProtectSystem=strict");
      expect(fence(unit))
        .to.include("\nLimitCORE=0\n")
        .and.match(/\nMemoryMax=\d+G\n/)
        .and.match(/\nTasksMax=\d+\n/);
      expect(fence(unit)).to.equal(fence("fermata.service"));
    });
  }

  it("has an environment file whose names are settings, placeholders included", () => {
    const text = readExample("systemd", "fermata.env");
    const env = Object.fromEntries(
      [...text.matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name as string, value as string]),
    );
    expect(Object.keys(env)).to.include.members([
      "FERMATA_CONFIG",
      "FERMATA_STORAGE__URL",
      "FERMATA_QUEUE__URL",
      "FERMATA_SECRETS__KEY",
    ]);
    for (const file of SETTINGS_FILES) expect(load(file, env).dataDir).to.equal(join("/var/lib", "fermata"));
    expect(readUnit("fermata.service")).to.deep.include(["StateDirectory", "fermata"]);
  });
});
