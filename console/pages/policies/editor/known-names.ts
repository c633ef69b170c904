/** The schema of policies, and names that a policy may use: each asked for once it is needed, and kept while the console is open. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useAnswer } from "../../../api/answers.ts";
import { asked } from "../../../api/call.ts";
import { mayCall } from "../../../app/session.ts";
import type { Known } from "../policy-data.ts";
import type { KnownName, NameKind, Names } from "./completion.ts";
import type { Schema } from "./schema.ts";

const schema = signal<Schema | undefined>(undefined);
let isAsking = false;

/** Undefined until it is there: the editor works without it, and completes nothing. */
export function useSchema(): Schema | undefined {
  useEffect(() => {
    if (isAsking) return;
    isAsking = true;
    asked("/schemas/policy.json", { headers: { accept: "application/json" } })
      .then(async (answer) => {
        schema.value = (await answer.json()) as Schema;
      })
      .catch(() => {
        isAsking = false;
      });
  }, []);
  return schema.value;
}

/** Kinds that one answer has together. */
const OF_CATALOG: readonly NameKind[] = ["models", "providers", "endpoints", "regions"];

/** Keys that are offered: with more one knows the id. */
const MOST_KEYS = 100;

/** @param wanted kinds that the place of the cursor takes */
export function useNames(wanted: readonly NameKind[], { open }: Pick<Known, "open">): Names {
  const catalog = useAnswer(
    "listPolicyNames",
    wanted.some((kind) => OF_CATALOG.includes(kind)) ? {} : undefined,
  ).value.value;
  const keys = useAnswer(
    "listKeys",
    wanted.includes("keys") && mayCall("listKeys") ? { query: { limit: MOST_KEYS } } : undefined,
  ).value.value?.data;
  const named = (names: readonly string[], about: string): KnownName[] =>
    names.map((name) => ({ name, about }));
  return {
    projects: open.map(({ slug, name }) => ({ name: slug, about: `Project ${name}` })),
    ...(keys !== undefined && { keys: keys.map(({ id, name }) => ({ name: id, about: `Key ${name}` })) }),
    ...(catalog !== undefined && {
      models: named(catalog.models, "Model"),
      providers: named(catalog.providers, "Provider"),
      regions: named(catalog.regions, "Region"),
      endpoints: catalog.endpoints.map(({ id, model_id: model, provider, region }) => ({
        name: id,
        about: `${model} at ${provider}, ${region}`,
      })),
    }),
  };
}
