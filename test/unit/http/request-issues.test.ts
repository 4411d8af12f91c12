import { expect } from "chai";
import { toIssues } from "../../../adapters/http/request-issues.js";

describe("toIssues", () => {
  const messageFor = (message: string): string | undefined =>
    toIssues({ "body.x": { message, value: "secret" } })[0]?.message;

  it("puts the generated findings into our words, and their values nowhere", () => {
    expect(messageFor("'x' is required")).to.equal("is required");
    expect(messageFor("invalid string value")).to.equal("must be a string");
    expect(messageFor("invalid boolean value")).to.equal("must be true or false");
    expect(messageFor("invalid integer number")).to.equal("must be an integer");
    expect(messageFor("invalid object")).to.equal("must be a JSON object");
    expect(messageFor('"x" is an excess property and therefore is not allowed')).to.equal("is not a known field");
    expect(
      messageFor('Could not match the union against any of the items. Issues: [{"x":{"value":"secret"}}]'),
    ).to.equal("is not valid");
    const of = (text: string): string => `{"body.x":{"message":"should be one of the following; ['${text}']"}}`;
    const union = `Could not match the union against any of the items. Issues: [${of("public")},${of("private")}]`;
    expect(messageFor(union)).to.equal("must be one of: public, private");
    expect(messageFor("invalid array")).to.equal("must be a list");
    expect(messageFor("must be 1 to 50")).to.equal("must be 1 to 50");
  });

  it("names body members and query parameters by their place", () => {
    const fields = Object.fromEntries(
      ["body", "body.a.b", "body.a.$3.b", "a.$3", "limit"].map((name) => [name, { message: "" }]),
    );
    const paths = toIssues(fields).map(({ path }) => path);
    expect(paths).to.deep.equal(["body", "body.a.b", "body.a[3].b", "body.a[3]", "query.limit"]);
  });

  it("cuts overlong names, and stops at 20", () => {
    const fields = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`body.${index}${"x".repeat(1_000)}`, { message: "" }]),
    );
    const issues = toIssues(fields);
    expect(issues).to.have.length(20);
    for (const { path } of issues) expect(path.length).to.be.below(120);
  });
});
