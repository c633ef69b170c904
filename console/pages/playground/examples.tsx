/** What one might ask to begin with. */
import { Button } from "../../parts/button.tsx";
import { settings, text } from "./state.ts";

const TOOLS = JSON.stringify(
  [
    {
      name: "weather",
      description: "The weather of a place now.",
      parameters: {
        type: "object",
        properties: { place: { type: "string" } },
        required: ["place"],
      },
    },
  ],
  null,
  2,
);

interface Example {
  readonly title: string;
  readonly text: string;
  readonly tools?: string;
}

const EXAMPLES: readonly Example[] = [
  {
    title: "Explain something",
    text: "Explain in three sentences how a river lock lifts a boat.",
  },
  {
    title: "Write a function",
    text: "Write a TypeScript function that splits a list into pieces of n items, with one example.",
  },
  {
    title: "Call a tool",
    text: "Is it raining in Lisbon? Use the tool.",
    tools: TOOLS,
  },
];

export const Examples = () => (
  <div class="empty">
    <p>Type a message below, or begin with one of these.</p>
    <div class="row">
      {EXAMPLES.map((example) => (
        <Button
          key={example.title}
          onClick={() => {
            text.value = example.text;
            if (example.tools !== undefined) settings.value = { ...settings.value, tools: example.tools };
          }}
        >
          {example.title}
        </Button>
      ))}
    </div>
  </div>
);
