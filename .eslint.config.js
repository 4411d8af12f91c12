import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

/** Mocha's functions that skip tests; a test either runs or is deleted. */
const LEFT_OUT_TESTS = [
  {
    selector:
      "CallExpression > MemberExpression[object.name=/^(describe|context|it|specify)$/][property.name=/^(only|skip)$/]",
    message: "Every test runs: no .only, no .skip.",
  },
  {
    selector: "CallExpression[callee.name=/^x(describe|context|it|specify)$/]",
    message: "Every test runs: no xit, no xdescribe.",
  },
  {
    selector: "CallExpression > MemberExpression[object.type='ThisExpression'][property.name='skip']",
    message: "Every test runs: no this.skip().",
  },
];

/** A plugin receives the operator's choices as settings, and reaches the network only by the host's fetch. */
const PLUGIN_GLOBALS = ["fetch", "WebSocket", "EventSource", "XMLHttpRequest"].map((name) => ({
  name,
  message: "Use the fetch that the host gives to `create`.",
}));
const PLUGIN_ENVIRONMENT = [
  {
    selector: "MemberExpression[object.name='process'][property.name=/^(env|binding|getBuiltinModule)$/]",
    message: "Plugins read no environment: declare a setting.",
  },
  {
    selector: "MemberExpression[object.name=/^(globalThis|global)$/][property.name=/^(fetch|process|WebSocket)$/]",
    message: "Plugins reach the network only by the host's fetch, and read no environment.",
  },
  {
    selector: "ImportDeclaration[source.value=/^(node:)?process$/], ImportExpression[source.value=/^(node:)?process$/]",
    message: "Plugins read no environment: declare a setting.",
  },
];

/** Prettier breaks code at 120 columns, but does not break comments and strings. */
const MAX_LINE_LENGTH = ["error", { code: 120, ignoreRegExpLiterals: true }];

/** What scripts of the examples' pages use of a browser. */
const BROWSER_GLOBALS = Object.fromEntries(
  ["clearTimeout", "document", "fetch", "FormData", "location", "setTimeout"].map((name) => [name, "readonly"]),
);

/** What a file shows by itself. `.oxlintrc.json` has the rules that need types. */
export default defineConfig([
  {
    ignores: [
      "dist/",
      "coverage/",
      "data/",
      "adapters/http/generated/",
      "adapters/client/generated/",
      "adapters/web/generated/",
    ],
  },
  js.configs.recommended,
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.recommended],
    rules: {
      "max-len": MAX_LINE_LENGTH,
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "separate-type-imports" }],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", destructuredArrayIgnorePattern: "^_" },
      ],
      eqeqeq: "error",
      "no-console": "error",
    },
  },
  {
    files: ["test/**/*.ts"],
    rules: {
      "no-restricted-syntax": ["error", ...LEFT_OUT_TESTS],
      // chai's `expect(x).to.be.empty;` is an expression statement.
      "@typescript-eslint/no-unused-expressions": "off",
    },
  },
  {
    files: ["plugins/**/*.ts"],
    rules: {
      "no-restricted-globals": ["error", ...PLUGIN_GLOBALS],
      "no-restricted-syntax": ["error", ...PLUGIN_ENVIRONMENT],
    },
  },
  { files: ["test/bench/**/*.ts", "test/examples/**/*.ts"], rules: { "no-console": "off" } },
  { files: ["test/examples/**/*.js"], languageOptions: { globals: BROWSER_GLOBALS } },
  {
    files: ["**/*.{js,cjs,mjs}"],
    languageOptions: { globals: { module: "readonly", process: "readonly", require: "readonly" } },
    rules: { "max-len": MAX_LINE_LENGTH },
  },
]);
