/** The reference as people read it, by a running gateway: a first page, a page for each heading, a search. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { slugOf } from "../../../src/edge/docs/entries.ts";
import { EXAMPLES } from "../../../src/edge/docs/examples.ts";
import { DOCS_PAGES } from "../../../src/edge/docs/pages.ts";
import { TASKS } from "../../../src/edge/docs/tasks.ts";
import type { OpenApiDocument } from "../../../src/edge/openapi/openapi-types.ts";
import { TAGS } from "../../../src/edge/openapi/tags.ts";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";
import { CALLS, nameOf, table } from "../../support/routes/calls.ts";

let gateway: TestGateway;
let document: OpenApiDocument;
const pages = new Map<string, Answer>();
const read = (path: string) => gateway.call("GET", path, { key: null });
beforeAll(async () => {
  gateway = await testGateway();
  document = (await read("/openapi.json")).json;
  for (const path of ["/docs", "/docs/search", ...TAGS.map(({ name }) => `/docs/${slugOf(name)}`)])
    pages.set(path, await read(path));
});
afterAll(() => gateway.stop());

const page = (path: string): string => {
  const found = pages.get(path);
  if (found === undefined) throw new Error(`${path} was not read`);
  return found.text;
};
const idsOf = (path: string) => [...page(path).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
const operations = () =>
  new Map(
    [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap((methods) =>
      Object.values(methods).map((item) => [item.operationId, item] as const),
    ),
  );

describe("each page", () => {
  test("loads without a key, and needs no script and no other host", () => {
    for (const [path, { status, headers, text }] of pages) {
      expect([path, status, headers.get("content-type")]).toEqual([path, 200, "text/html; charset=utf-8"]);
      expect(text).not.toMatch(/<script|<img|<iframe|@import|\bsrc=|url\(/i);
    }
  });

  test("has its tokens and its style, files of this gateway that name no other", async () => {
    for (const path of pages.keys()) {
      const links = [...page(path).matchAll(/<link rel="stylesheet" href="([^"]*)">/g)].map(
        ([, href = ""]) => href,
      );
      expect(links.map((href) => new URL(href, gateway.url + path).pathname)).toEqual([
        "/assets/tokens.css",
        "/assets/docs.css",
      ]);
    }
    const style = await read("/assets/docs.css");
    expect([style.status, style.headers.get("content-type")]).toEqual([200, "text/css; charset=utf-8"]);
    expect(style.text).not.toMatch(/@import|url\(/i);
  });

  test("has each of its ids once, and every link of the reference leads to one", () => {
    for (const path of pages.keys()) {
      const ids = idsOf(path);
      expect(new Set(ids).size, path).toBe(ids.length);
      for (const [, href = ""] of page(path).matchAll(/href="([^"]*)"/g)) {
        const { pathname, hash } = new URL(href, gateway.url + path);
        if (!pathname.startsWith("/docs")) continue;
        expect(pages.has(pathname), `${path}: ${href}`).toBe(true);
        if (hash !== "") expect(idsOf(pathname), `${path}: ${href}`).toContain(hash.slice(1));
      }
    }
  });

  test("what stands in the document is text, not markup", () => {
    const info = { title: "<script>1</script>", version: '"><b>', description: "`a` & <i>", license: {} };
    for (const pieces of DOCS_PAGES.values()) {
      const text = [...pieces({ ...document, info })].join("");
      if (!text.startsWith("<")) continue;
      expect(text).not.toContain("<script>");
      expect(text).not.toContain("<b>");
    }
  });
});

describe("a heading's page", () => {
  test("has an entry for every route and every event, and no other page has it too", () => {
    const onPages = TAGS.flatMap(({ name }) => idsOf(`/docs/${slugOf(name)}`));
    for (const id of operations().keys())
      expect(
        onPages.filter((each) => each === id),
        id,
      ).toEqual([id]);
  });

  test.each(table.filter((r) => CALLS[nameOf(r)]?.body).map((r) => [nameOf(r), r] as const))(
    "the example body of %s is one that it takes",
    (_, { method, path }) => {
      const item = document.paths[path]?.[method.toLowerCase()];
      const { schema, example } = item?.requestBody?.content["application/json"] ?? {};
      z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).parse(example);
      expect(page(`/docs/${slugOf(item?.tags[0] ?? "")}`)).toContain(
        JSON.stringify(example).replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
      );
    },
  );

  test("is not found by another name", async () => {
    for (const name of ["", "none", "index", "Keys", "keys/more"])
      expect((await read(`/docs/${name}`)).status, name).toBe(404);
  });
});

describe("the first page", () => {
  test("leads to every route and event, by its id", () => {
    const ids = idsOf("/docs");
    for (const id of operations().keys()) expect(ids).toContain(id);
  });

  test("each task names routes that there are", () => {
    for (const { by, want } of TASKS.flatMap(({ tasks }) => tasks)) {
      expect(page("/docs")).toContain(`<li>${want.replaceAll("'", "&#39;")}`);
      for (const id of by) expect([...operations().keys()], want).toContain(id);
    }
  });

  describe("an example", () => {
    let owner: SignedInPerson;
    beforeAll(async () => {
      owner = await signInAt(gateway.url, { email: "owner@example.test" });
    });

    test.each(EXAMPLES)("$title: each step is answered", async ({ title, steps }) => {
      expect(page("/docs")).toContain(title);
      let project = "";
      for (const { method, path, body } of steps) {
        const filled = (text: string) => text.replaceAll("$PROJECT_ID", project);
        const sent = body && (JSON.parse(filled(JSON.stringify(body))) as object);
        const answer = await owner.call(method, filled(path), { body: sent });
        expect([path, answer.status]).toEqual([path, answer.status < 300 ? answer.status : 200]);
        if (path === "/v1/projects") project = answer.json.id;
        if (path === "/v1/keys") {
          expect(answer.json.limits).toEqual({ rpm: 60, tpm: 200_000, concurrency: 4 });
          expect(answer.json.budget).toEqual({ daily_micro: 5_000_000, hard: true });
        }
      }
    });
  });
});

describe("the search", () => {
  const search = async (query: string) => (await read(`/docs/search?q=${encodeURIComponent(query)}`)).text;
  const firstOf = (text: string) => /<li><a href="[^"#]*#([^"]+)"/.exec(text)?.[1];

  test.each([
    ["createKey", "createKey"],
    ["/v1/credits/ledger", "listLedger"],
    ["rotate webhook", "rotateWebhook"],
    ["daily_micro project_id expires_in", "createKey"],
    ["budget_exceeded messages", "createMessage"],
    ["canary.red", "on_canary_red"],
    ["get money back", "refundTopup"],
  ])("%s finds %s first", async (query, id) => {
    expect(firstOf(await search(query))).toBe(id);
  });

  test("words that nothing has find nothing, and no words ask for some", async () => {
    expect(await search("no such words")).toContain("Nothing has all these words");
    expect(await search(" ")).toContain("Type a word");
  });

  test("a hostile question is text, and a long one is cut", async () => {
    const hostile = await search(`"><script>alert(1)</script>`);
    expect(hostile).not.toContain("<script>");
    expect(hostile).toContain("&lt;script&gt;");
    const long = await search("x".repeat(5000));
    expect(long).toContain(`“${"x".repeat(100)}”`);
    expect(long).not.toContain("x".repeat(101));
    expect((await read("/docs/search?q=%E0%A4%A")).status).toBe(200);
  });
});
