/** Aliases of the model files: an alias that leaves a doubt which model it is refuses the catalog, with its place. */
import { expect, test } from "vitest";
import { problemText, readDocument } from "../../../../src/base/document/document.ts";
import { buildDraft } from "../../../../src/catalog/models/build.ts";
import { modelsFile, providersFile } from "../../../../src/catalog/models/schema.ts";

const PROVIDERS = `providers:
  - id: sim
    name: Simulator
    base_url: http://127.0.0.1:9/v1
    dialects: [chat]
    data_policy: { trains: false, retention_days: 0, zdr: true }
    regions: [local]
`;

const file = (vendor: string, model: string, aliases: string) => `vendor: ${vendor}
models:
  - id: ${vendor}/${model}
    name: A model
    aliases: ${aliases}
    modalities: { in: [text], out: [text] }
    context: 1000
    max_output: 100
    capabilities: [tools]
    endpoints:
      - provider: sim
        upstream_model: ${vendor}-${model}
        price: { input: 1, output: 1 }
`;

/** What is wrong with the aliases of `weir/small` beside `again/other`, which has the alias `twice`. */
async function faultsOf(aliases: string): Promise<readonly string[]> {
  const providers = readDocument(PROVIDERS, "providers.yaml", providersFile);
  const read = [file("again", "other", "[twice]"), file("weir", "small", aliases)].map((text, at) =>
    readDocument(text, ["again.yaml", "weir.yaml"][at] as string, modelsFile),
  );
  const problems = read.flatMap((each) => (each.ok ? [] : each.problems));
  if (!providers.ok || problems.length > 0) return problems.map(problemText);
  const vendors = read.flatMap((each, at) =>
    each.ok ? [{ ...each, file: ["again.yaml", "weir.yaml"][at] as string }] : [],
  );
  const files = { providers: { ...providers, file: "providers.yaml" }, vendors, content: "" };
  const draft = await buildDraft(files, { env: {}, simulatorUrl: "http://127.0.0.1:9" });
  return draft.ok ? [] : draft.problems.map(problemText);
}

test.each(["[]", "[tiny]", "[tiny, tiny-2026, acme/tiny:v1, tiny@x]", "[acme/other]"])(
  "%s is taken",
  async (aliases) => {
    expect(await faultsOf(aliases)).toEqual([]);
  },
);

test.each([
  ["[other]", "other is the name of again/other already"],
  ["[small]", "small is the name of weir/small already"],
  ["[again/other]", "again/other is the name of again/other already"],
  ["[twice]", "alias twice stands already at again.yaml:5"],
  ["[again/twice]", "alias again/twice stands already at again.yaml:5"],
  ["[mine, mine]", "alias weir/mine stands already at weir.yaml:5"],
  ["[a b]", "use <model> or <vendor>/<model>"],
  ["[a/b/c]", "use <model> or <vendor>/<model>"],
  [`[${"x".repeat(121)}]`, "120"],
  [`[${Array.from({ length: 21 }, (_, n) => `x${n}`)}]`, "has more than 20 names"],
  ["tiny", "must be a list, such as [rocket, rocket-2.0]"],
  ["", "must be a list, such as [rocket, rocket-2.0]"],
])("%.30s is refused", async (aliases, message) => {
  const [fault = ""] = await faultsOf(aliases);
  expect(fault).toMatch(/^weir\.yaml:5:\d+ \/models\/0\/aliases/);
  expect(fault).toContain(message);
});
