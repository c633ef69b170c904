/** The API reference is made in steps, once, whoever asks how often; nothing of it is made twice or all at once. */
import { expect, test } from "vitest";
import { openReference } from "../../../../src/edge/docs/reference.ts";
import type { OpenApiDocument } from "../../../../src/edge/openapi/openapi-types.ts";

const ROUTES = 40;
const DOCUMENT = {
  openapi: "3.1.0",
  servers: [{ url: "" }],
  paths: Object.fromEntries(
    Array.from({ length: ROUTES }, (_, i) => [`/r/${i}`, { get: { n: i, 'a"b': null } }]),
  ),
  webhooks: {},
  components: { schemas: {} },
} as unknown as OpenApiDocument;

function counted(fails = 0) {
  const made = { documents: 0, pages: 0 };
  let failures = fails;
  function* page(document: OpenApiDocument) {
    made.pages++;
    yield `<h1>${document.servers[0]?.url}</h1>`;
    for (let i = 0; i < ROUTES; i++) yield `${i},`;
  }
  const reference = openReference({
    *document(address) {
      made.documents++;
      for (let i = 0; i < ROUTES; i++) yield i;
      if (failures-- > 0) throw new Error("no document");
      return { ...DOCUMENT, servers: [{ url: address, description: "" }] };
    },
    pages: new Map([["first", page]]),
  });
  return { made, reference };
}

test("S8: it is made once, before anybody asks, and a question makes nothing", async () => {
  const { made, reference } = counted();
  await Promise.all([reference.prepare(), reference.page("first", "http://a"), reference.prepare()]);
  const once = { documents: 1, pages: 1 };
  expect(made).toEqual(once);
  await Promise.all([reference.page("first", "http://b"), reference.openApi("http://b")]);
  expect(made).toEqual(once);
});

test("S8: between two routes the event loop has a turn", async () => {
  const { reference } = counted();
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await reference.prepare();
  clearImmediate(next);
  // The document, its text and the page.
  expect(turns).toBeGreaterThanOrEqual(3 * ROUTES);
});

test("S8: the pieces are the whole document, with the address that the reader used", async () => {
  const { reference } = counted();
  const expected = { ...DOCUMENT, servers: [{ url: "http://here", description: "" }] };
  expect(await reference.openApi("http://here")).toBe(JSON.stringify(expected));
  expect(await reference.page("first", "http://here")).toContain("<h1>http://here</h1>0,1,2,");
});

test("S8: a failure is told to who asks, and the next one tries again", async () => {
  const { made, reference } = counted(2);
  await reference.prepare();
  expect(made.documents).toBe(2);
  expect(JSON.parse(await reference.openApi(""))).toHaveProperty("paths");
});
