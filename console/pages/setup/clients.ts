/**
 * How each client is told of this gateway: its settings with base URL, key and model filled in. Pure; each entry names where its settings
 * are described.
 */

export interface Filled {
  /** Where the gateway is reached, without a slash at the end: `https://gateway.example.com`. */
  readonly origin: string;
  /** A secret, or the name of a variable that holds one. */
  readonly key: string;
  /** Id of the model. */
  readonly model: string;
}

export interface Step {
  /** What to do with the text: `Run in a shell`, `~/.codex/config.toml`. */
  readonly title: string;
  readonly text: string;
}

export interface Client {
  readonly id: string;
  readonly name: string;
  /** One sentence: what it is, and by which format it asks. */
  readonly about: string;
  steps(filled: Filled): readonly Step[];
}

/** In a shell's single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
/** In JSON, TOML, Python and TypeScript alike. */
const text = (value: string): string => JSON.stringify(value);

export const CLIENTS: readonly Client[] = [
  {
    // https://code.claude.com/docs/en/llm-gateway
    id: "claude-code",
    name: "Claude Code",
    about: "Anthropic's coding agent. It asks by the messages format, at the gateway's address without /v1.",
    steps: ({ origin, key, model }) => [
      {
        title: "Run in a shell",
        text: [
          `export ANTHROPIC_BASE_URL=${quoted(origin)}`,
          `export ANTHROPIC_AUTH_TOKEN=${quoted(key)}`,
          `export ANTHROPIC_MODEL=${quoted(model)}`,
          `export ANTHROPIC_DEFAULT_HAIKU_MODEL=${quoted(model)}`,
          "claude",
        ].join("\n"),
      },
    ],
  },
  {
    // https://developers.openai.com/codex/config-reference
    id: "codex",
    name: "Codex",
    about: "OpenAI's coding agent. It asks by the responses format.",
    steps: ({ origin, key, model }) => [
      {
        title: "Put into ~/.codex/config.toml",
        text: [
          `model = ${text(model)}`,
          'model_provider = "weir"',
          "",
          "[model_providers.weir]",
          'name = "Weir"',
          `base_url = ${text(`${origin}/v1`)}`,
          'env_key = "WEIR_API_KEY"',
          'wire_api = "responses"',
        ].join("\n"),
      },
      { title: "Run in a shell", text: `export WEIR_API_KEY=${quoted(key)}\ncodex` },
    ],
  },
  {
    // https://opencode.ai/docs/providers
    id: "opencode",
    name: "opencode",
    about: "A coding agent for the terminal. It asks by the chat-completions format.",
    steps: ({ origin, key, model }) => [
      {
        title: "Put into opencode.json",
        text: JSON.stringify(
          {
            $schema: "https://opencode.ai/config.json",
            provider: {
              weir: {
                npm: "@ai-sdk/openai-compatible",
                name: "Weir",
                options: { baseURL: `${origin}/v1`, apiKey: "{env:WEIR_API_KEY}" },
                models: { [model]: { name: model } },
              },
            },
            model: `weir/${model}`,
          },
          null,
          2,
        ),
      },
      { title: "Run in a shell", text: `export WEIR_API_KEY=${quoted(key)}\nopencode` },
    ],
  },
  {
    // https://docs.cline.bot/provider-config/openai-compatible
    id: "cline",
    name: "Cline",
    about: "A coding agent in the editor. Choose the API provider OpenAI Compatible in its settings.",
    steps: ({ origin, key, model }) => [
      { title: "Base URL", text: `${origin}/v1` },
      { title: "API Key", text: key },
      { title: "Model ID", text: model },
    ],
  },
  {
    // https://docs.openwebui.com/getting-started/quick-start/starting-with-openai-compatible
    id: "open-webui",
    name: "Open WebUI",
    about: "A chat page for a team. It lists the models of the gateway by itself.",
    steps: ({ origin, key }) => [
      {
        title: "Run in a shell",
        text: [
          "docker run -d -p 3000:8080 --add-host=host.docker.internal:host-gateway \\",
          `  -e OPENAI_API_BASE_URL=${quoted(`${fromContainer(origin)}/v1`)} \\`,
          `  -e OPENAI_API_KEY=${quoted(key)} \\`,
          "  -v open-webui:/app/backend/data --name open-webui ghcr.io/open-webui/open-webui:main",
        ].join("\n"),
      },
    ],
  },
  {
    // https://github.com/openai/openai-node and openai-python
    id: "openai",
    name: "OpenAI's SDK",
    about: "For programs. Only the base URL and the key change.",
    steps: ({ origin, key, model }) => [
      {
        title: "TypeScript",
        text: [
          'import OpenAI from "openai";',
          "",
          `const openai = new OpenAI({ baseURL: ${text(`${origin}/v1`)}, apiKey: ${text(key)} });`,
          "const answer = await openai.chat.completions.create({",
          `  model: ${text(model)},`,
          '  messages: [{ role: "user", content: "Hello" }],',
          "});",
          "console.log(answer.choices[0].message.content);",
        ].join("\n"),
      },
      {
        title: "Python",
        text: [
          "from openai import OpenAI",
          "",
          `client = OpenAI(base_url=${text(`${origin}/v1`)}, api_key=${text(key)})`,
          "answer = client.chat.completions.create(",
          `    model=${text(model)},`,
          '    messages=[{"role": "user", "content": "Hello"}],',
          ")",
          "print(answer.choices[0].message.content)",
        ].join("\n"),
      },
    ],
  },
  {
    // https://github.com/anthropics/anthropic-sdk-typescript and -python
    id: "anthropic",
    name: "Anthropic's SDK",
    about: "For programs. The base URL is the gateway's address without /v1.",
    steps: ({ origin, key, model }) => [
      {
        title: "TypeScript",
        text: [
          'import Anthropic from "@anthropic-ai/sdk";',
          "",
          `const anthropic = new Anthropic({ baseURL: ${text(origin)}, apiKey: ${text(key)} });`,
          "const answer = await anthropic.messages.create({",
          `  model: ${text(model)},`,
          "  max_tokens: 1024,",
          '  messages: [{ role: "user", content: "Hello" }],',
          "});",
          "console.log(answer.content);",
        ].join("\n"),
      },
      {
        title: "Python",
        text: [
          "from anthropic import Anthropic",
          "",
          `client = Anthropic(base_url=${text(origin)}, api_key=${text(key)})`,
          "answer = client.messages.create(",
          `    model=${text(model)},`,
          "    max_tokens=1024,",
          '    messages=[{"role": "user", "content": "Hello"}],',
          ")",
          "print(answer.content)",
        ].join("\n"),
      },
    ],
  },
  {
    id: "curl",
    name: "curl",
    about: "One call from a shell.",
    steps: ({ origin, key, model }) => [
      {
        title: "Run in a shell",
        text: [
          `curl ${quoted(`${origin}/v1/chat/completions`)} \\`,
          `  -H ${quoted(`Authorization: Bearer ${key}`)} -H 'Content-Type: application/json' \\`,
          `  -d ${quoted(JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }))}`,
        ].join("\n"),
      },
    ],
  },
];

/** A container reaches its machine by another name than the machine itself does. */
function fromContainer(origin: string): string {
  const url = new URL(origin);
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) return origin;
  return `${url.protocol}//host.docker.internal:${url.port || (url.protocol === "https:" ? "443" : "80")}`;
}
