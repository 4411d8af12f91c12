import { expect } from "chai";
import { withDefaults } from "../../../../core/providers/setting-defaults.js";

describe("withDefaults", () => {
  const declared = {
    url: { type: "string", default: "https://api.example.com", description: "URL" },
    steps: { type: "integer", default: 0, description: "Steps" },
    isPublic: { type: "boolean", default: false, description: "Public" },
    region: { type: "string", description: "Region" },
  } as const;

  it("fills in the default of every declared setting that has none of its own, falsy ones included", () => {
    expect(withDefaults(declared, {})).to.deep.equal({ url: "https://api.example.com", steps: 0, isPublic: false });
    expect(withDefaults(declared, { steps: undefined, region: "eu" })).to.deep.equal({
      url: "https://api.example.com",
      steps: 0,
      isPublic: false,
      region: "eu",
    });
  });

  it("keeps values that are given, and hands over no other setting than those declared", () => {
    const given = { url: "http://10.0.0.5", steps: 3, isPublic: true, other: "x" };
    expect(withDefaults(declared, given)).to.deep.equal({ url: "http://10.0.0.5", steps: 3, isPublic: true });
  });
});
