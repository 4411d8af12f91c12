import { expect } from "chai";
import { hostUrls } from "../../../core/host-urls.js";

describe("hostUrls", () => {
  it("splits a list of hosts, each with all the rest of the URL", () => {
    expect(hostUrls("mysql://u:p%2Cq@db1,db2:3307,[::1]:3308/fermata?ssl=true")).to.deep.equal([
      "mysql://u:p%2Cq@db1/fermata?ssl=true",
      "mysql://u:p%2Cq@db2:3307/fermata?ssl=true",
      "mysql://u:p%2Cq@[::1]:3308/fermata?ssl=true",
    ]);
    expect(hostUrls("amqp://a,b:5673")).to.deep.equal(["amqp://a", "amqp://b:5673"]);
    // A comma may be in a password or behind the hosts.
    expect(hostUrls("mysql://u:p,q@db1,db2/f")).to.deep.equal(["mysql://u:p,q@db1/f", "mysql://u:p,q@db2/f"]);
  });

  it("leaves what has one host, or none, as it is", () => {
    for (const url of ["mysql://u:a,b@db1/f,g?x=1,2", "memory:", "sqlite:/a,b.db", "amqp:///x", "nothing"])
      expect(hostUrls(url)).to.deep.equal([url]);
  });

  it("names the host that is missing, wrong or there twice, and nothing of user and password", () => {
    const said = (url: string): string => {
      try {
        return hostUrls(url).join();
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(said("mysql://root:secret@db1,/f")).to.equal("Host 2 of 2 is empty");
    expect(said("mysql://root:secret@,db1/f")).to.equal("Host 1 of 2 is empty");
    expect(said("mysql://root:secret@db1,db2:99999/f")).to.equal('Host 2 of 2 cannot be read: "db2:99999"');
    expect(said("mysql://root:secret@db1,:3307/f")).to.equal('Host 2 of 2 cannot be read: ":3307"');
    expect(said("mysql://root:secret@db1,db 2/f")).to.equal('Host 2 of 2 cannot be read: "db 2"');
    expect(said("mysql://root:secret@db1:1,db1:2,DB1:1/f")).to.equal('The host "DB1:1" is there twice');
    // What looks like hosts is a part of a password that is not encoded.
    expect(said("mysql://root:1,secret/@db1/f")).to.equal("mysql://root:1,secret/@db1/f");
  });
});
