import { expect } from "chai";
import { settingIssues } from "../../../../core/providers/definition-parts.js";
import { apiKey, baseUrl, httpUrl, jsonObject, pollMs, timeoutMs } from "../../../../plugins/sdk/index.js";

describe("Common settings of the plugin SDK", () => {
  it("are declarations that the host accepts, with the usual bounds", () => {
    const settings = {
      apiKey: apiKey("Key from the provider's console"),
      baseUrl: baseUrl("https://api.example.com"),
      timeoutMs: timeoutMs(60_000),
      pollMs: pollMs(5_000),
    };
    expect(settingIssues(settings)).to.deep.equal([]);
    expect(settings.apiKey).to.include({ required: true, secret: true });
    expect([settings.timeoutMs.minimum, settings.timeoutMs.maximum, settings.timeoutMs.default]).to.deep.equal([
      1_000, 600_000, 60_000,
    ]);
    expect([settings.pollMs.minimum, settings.pollMs.maximum, settings.pollMs.default]).to.deep.equal([
      500, 600_000, 5_000,
    ]);
  });

  it("take other bounds and descriptions", () => {
    expect(timeoutMs(300_000, { maximum: 1_800_000, description: "Longer than a render" })).to.deep.equal({
      type: "integer",
      default: 300_000,
      minimum: 1_000,
      maximum: 1_800_000,
      description: "Longer than a render",
    });
    expect(pollMs(10_000, { minimum: 1_000 }).minimum).to.equal(1_000);
    expect(baseUrl("https://api.example.com", "Where it is").description).to.equal("Where it is");
  });
});

describe("httpUrl", () => {
  it("drops slashes at the end, and refuses anything but an http or https URL by the setting's name", () => {
    expect([
      httpUrl("baseUrl", "https://api.example.com/v1//"),
      httpUrl("baseUrl", " http://10.0.0.5:8000 "),
    ]).to.deep.equal(["https://api.example.com/v1", "http://10.0.0.5:8000"]);
    for (const text of ["api.example.com", "ftp://api.example.com", "", "https://"])
      expect(() => httpUrl("jwksUrl", text), text).to.throw(
        `jwksUrl: ${JSON.stringify(text)}; allowed: an http or https URL`,
      );
  });
});

describe("jsonObject", () => {
  it("reads a JSON object, and refuses other text by the setting's name with an example", () => {
    expect(jsonObject("splitInputs", '{"format":"mp3"}', "{}")).to.deep.equal({ format: "mp3" });
    for (const text of ["", "[]", "null", "{format"])
      expect(() => jsonObject("splitInputs", text, '{"format":"mp3"}'), text).to.throw(
        `splitInputs: ${JSON.stringify(text)}; allowed: a JSON object such as {"format":"mp3"}`,
      );
  });
});
