/** `/`: what runs here, for strangers; a page for browsers, JSON for programs. */
import { html, pageText } from "../../base/html.ts";

const DESCRIPTION =
  "A gateway in front of AI model providers: OpenAI's and Anthropic's formats in, any provider out.";

/** What a program reads. */
export const about = (version: string) => ({
  name: "weir",
  description: DESCRIPTION,
  version,
  docs: "/docs",
  openapi: "/openapi.json",
  models: "/v1/models",
  health: "/healthz",
});

/** @param address the gateway's, as the reader used it; empty where that is not known */
export const welcomePage = (version: string, address: string): string =>
  pageText({
    title: "Weir",
    isNamed: true,
    links: [
      ["API reference", "/docs"],
      ["The same for machines", "/openapi.json"],
      ["Whether it is alive", "/healthz"],
      ["Whether it works, part by part", "/readyz"],
    ],
    body: html`<main><h1>Weir</h1>
<p>${DESCRIPTION} One key, one bill, and every call in one place.</p>
<p><a class="main" href="/console">Sign in to the console</a></p>
<p class="quiet">There you see calls, spend and credit, make keys, and try models.</p></main>
<section><h2>The first call</h2>
<p>Make a key in the console, then call any model with the SDK that you have:</p>
<pre tabindex="0"><code>curl ${address}/v1/chat/completions \\
  -H "Authorization: Bearer $WEIR_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "VENDOR/MODEL",
       "messages": [{"role": "user", "content": "Hello"}]}'</code></pre>
<p class="quiet">OpenAI's SDKs take <code>${address}/v1</code> as base URL, Anthropic's <code>${address}</code>.
<a href="/v1/models"><code>GET /v1/models</code></a> lists the models.</p></section>
<p class="quiet">Version ${version}</p>`,
  });
