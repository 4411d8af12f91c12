import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

/** Mocha's words that leave tests out; a test is either run or gone. */
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

/** A plugin gets what an operator decides as settings, and calls nobody but by the host's fetch. */
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
    message: "Plugins have no way out but the host's fetch, and no environment.",
  },
  {
    selector: "ImportDeclaration[source.value=/^(node:)?process$/], ImportExpression[source.value=/^(node:)?process$/]",
    message: "Plugins read no environment: declare a setting.",
  },
];

export default defineConfig([
  { ignores: ["dist/", "coverage/", "data/", "adapters/http/generated/"] },
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Prettier breaks code at 120 columns; comments and strings it leaves as they are.
      "max-len": ["error", { code: 120, ignoreRegExpLiterals: true }],
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "separate-type-imports" }],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", destructuredArrayIgnorePattern: "^_" },
      ],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      // Ports promise; an adapter that has nothing to wait for still answers a promise.
      "@typescript-eslint/require-await": "off",
      // Our ports and doubles are taken apart on purpose; their methods that need `this` are called on it.
      "@typescript-eslint/unbound-method": "off",
      eqeqeq: "error",
      "no-console": "error",
    },
  },
  {
    files: ["test/**/*.ts"],
    rules: {
      "no-restricted-syntax": ["error", ...LEFT_OUT_TESTS],
      // chai says `expect(x).to.be.empty;`, and mocha's own functions answer promises that it awaits itself.
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
  { files: ["test/bench/**/*.ts"], rules: { "no-console": "off" } },
  {
    files: ["**/*.{js,cjs,mjs}"],
    languageOptions: { globals: { module: "readonly", process: "readonly", require: "readonly" } },
  },
]);
