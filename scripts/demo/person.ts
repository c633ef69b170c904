/** A person of the demo: signs in at the built-in identity provider as a browser does, and makes calls with the session. */

export interface PersonName {
  readonly email: string;
  readonly name: string;
}

/** Sign-ins have five or six steps. */
const MOST_REDIRECTS = 12;

/** Cookies of each origin, by name. */
type Jar = Map<string, Map<string, string>>;

interface Invitations {
  readonly data: readonly { readonly id: string; readonly org_id: string }[];
}

export class Person {
  readonly #url: string;
  readonly #cookie: string;
  readonly #csrf: string;
  readonly id: string;

  private constructor(url: string, cookie: string, csrf: string, id: string) {
    this.#url = url;
    this.#cookie = cookie;
    this.#csrf = csrf;
    this.id = id;
  }

  /** @throws Error that names the step which failed */
  static async signIn(url: string, { email, name }: PersonName): Promise<Person> {
    const jar: Jar = new Map();
    const page = await follow(jar, `${url}/auth/login?prompt=login&return_to=/auth/me`);
    const fields = new URLSearchParams({ email, name });
    const home = await follow(jar, page.at, fields);
    if (home.status !== 200) throw new Error(`${email} could not sign in: ${home.status} at ${home.at}`);
    const { user, csrf_token: csrf } = JSON.parse(home.text);
    return new Person(url, cookieFor(jar, url), csrf, user.id);
  }

  /** Any route; the type is what the caller reads of the answer. @throws Error with the answer where it is none of 2xx, unless `may` has its status */
  async call<T = unknown>(
    method: string,
    path: string,
    body?: object,
    may: readonly number[] = [],
  ): Promise<T> {
    const answer = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        cookie: this.#cookie,
        "x-svc-csrf": this.#csrf,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok && !may.includes(answer.status))
      throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** Accepts every invitation that waits. */
  async join(): Promise<void> {
    const { data } = await this.call<Invitations>("GET", "/auth/invitations");
    for (const { id, org_id: org } of data) {
      await this.call("POST", `/auth/invitations/${id}/accept`);
      await this.call("PUT", "/auth/active-org", { org });
    }
  }
}

/** Goes on as a browser does until there is a page. @param form posted first */
async function follow(jar: Jar, from: string, form?: URLSearchParams) {
  let at = from;
  let body = form;
  for (let step = 0; step < MOST_REDIRECTS; step++) {
    const answer: Response = await fetch(at, {
      redirect: "manual",
      headers: { cookie: cookieFor(jar, at) },
      ...(body !== undefined && { method: "POST", body }),
    });
    keep(jar, at, answer.headers.getSetCookie());
    const next = answer.headers.get("location");
    const text = await answer.text();
    if (next === null) return { at, status: answer.status, text };
    at = new URL(next, at).href;
    body = undefined;
  }
  throw new Error(`a sign-in that began at ${from} does not end`);
}

function keep(jar: Jar, at: string, lines: readonly string[]): void {
  const { origin } = new URL(at);
  const cookies = jar.get(origin) ?? new Map<string, string>();
  jar.set(origin, cookies);
  for (const line of lines) {
    const pair = line.slice(0, line.indexOf(";"));
    const name = pair.slice(0, pair.indexOf("="));
    if (/max-age=0|1970/i.test(line)) cookies.delete(name);
    else cookies.set(name, pair.slice(name.length + 1));
  }
}

const cookieFor = (jar: Jar, at: string): string =>
  Array.from(jar.get(new URL(at).origin) ?? [], ([name, value]) => `${name}=${value}`).join("; ");
