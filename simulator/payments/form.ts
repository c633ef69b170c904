/** Bodies and queries as Stripe's libraries write them: `a[b][0]=c`. Read by their whole name. */
import type { ApiRequest } from "./api.ts";

export class Form {
  readonly #fields: URLSearchParams;

  constructor({ method, body, query }: ApiRequest) {
    this.#fields = method === "GET" ? query : new URLSearchParams(body);
  }

  text(name: string): string {
    return this.#fields.get(name) ?? "";
  }

  /** 0 where it is missing. */
  number(name: string): number {
    return Number(this.text(name));
  }

  /** Name of a field that is there and empty. */
  emptyField(): string | undefined {
    return [...this.#fields].find(([, value]) => value === "")?.[0];
  }

  list(name: string): string[] {
    const values: string[] = [];
    for (const [key, value] of this.#fields)
      if (key === `${name}[]` || (key.startsWith(`${name}[`) && /^\d+\]$/.test(key.slice(name.length + 1))))
        values.push(value);
    return values;
  }

  /** Members of an object. */
  record(name: string): Record<string, string> {
    const members: Record<string, string> = {};
    for (const [key, value] of this.#fields)
      if (key.startsWith(`${name}[`) && key.endsWith("]")) members[key.slice(name.length + 1, -1)] = value;
    return members;
  }

  expands(path: string): boolean {
    return this.list("expand").some((wanted) => wanted === path || wanted.startsWith(`${path}.`));
  }
}
