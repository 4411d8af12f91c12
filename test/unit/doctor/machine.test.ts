import { expect } from "chai";
import {
  classifyFilesystem as classifySqliteFilesystem,
  classifyMode,
  classifySqliteRefusal,
} from "../../../adapters/storage/sql/doctor/sqlite.js";
import { classifyFilesystem, classifyOwner, classifySpace } from "../../../adapters/system/doctor.js";

const GIB = 1024 ** 3;

describe("The doctor of this machine, by given facts", () => {
  const folder = {
    name: "data directory space",
    path: "/data",
    setting: "dataDir",
    fileMaxBytes: GIB / 4,
    isPrivate: true,
  };

  it("wants room for the largest file, and warns below a gibibyte", () => {
    expect([GIB / 4 - 1, GIB / 4, GIB - 1, GIB].map((free) => classifySpace(folder, free).result)).to.deep.equal([
      "failed",
      "warning",
      "warning",
      "ok",
    ]);
    expect(classifySpace(folder, GIB / 8)).to.include({
      message: "0.1 GiB are free in /data. One file may need 0.3 GiB.",
      fix: "Make room, or set dataDir to another disk.",
    });
  });

  it("warns of folders that end with a container or a restart", () => {
    const [ext4, tmpfs, overlay] = [0xef53, 0x01021994, 0x794c7630];
    expect(
      [ext4, tmpfs, overlay].map((type) => classifyFilesystem("data", "It is there", type, "dataDir").result),
    ).to.deep.equal(["ok", "warning", "warning"]);
    expect(classifyFilesystem("data", "It is there", overlay, "dataDir").message).to.equal(
      "It is there, but is in a layer of a container, and gone with it.",
    );
  });

  it("does not take root's rights for those of a folder's owner", () => {
    expect(classifyOwner("data", "/data", 0, 0)).to.equal(null);
    expect(classifyOwner("data", "/data", 1001, 1001)).to.equal(null);
    expect(classifyOwner("data", "/data", 1001, 0)).to.include({
      result: "warning",
      fix: "Run doctor as the user that Fermata runs as: `sudo -u '#1001' fermata doctor`",
    });
  });

  it("warns of SQLite on a filesystem of the network", () => {
    const [ext4, nfs, fuse] = [0xef53, 0x6969, 0x65735546];
    expect([ext4, nfs, fuse].map((type) => classifySqliteFilesystem("/data/f", type).result)).to.deep.equal([
      "ok",
      "warning",
      "warning",
    ]);
    expect(classifySqliteFilesystem("/data/f", nfs).message).to.include("/data/f is on NFS");
  });

  it("wants SQLite's write-ahead log, flushed at each commit", () => {
    expect(
      [classifyMode("3.53.0", "wal", 2), classifyMode("3.53.0", "delete", 2), classifyMode("3.53.0", "wal", 1)].map(
        ({ result }) => result,
      ),
    ).to.deep.equal(["ok", "failed", "failed"]);
  });

  it("distinguishes a locked SQLite file from a broken one", () => {
    expect(classifySqliteRefusal("/data/f", new Error("database is locked")).fix).to.equal(
      "End the process that holds it: `fuser /data/f` names it.",
    );
    expect(classifySqliteRefusal("/data/f", new Error("database disk image is malformed")).fix).to.equal(
      "Restore the file from a backup.",
    );
  });
});
