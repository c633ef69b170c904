/** A page and its panels: a title, what can be done, and what it is about. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

interface Headed {
  readonly title: string;
  /** At the end of the title's line. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The whole of a page; its title is also the window's. @param about one sentence: range, zone, what is left out */
export function Page({ title, actions, about, children }: Headed & { readonly about?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · Weir`;
  }, [title]);
  return (
    <main class="page" id="main" tabIndex={-1}>
      <header class="page-head">
        <h1>{title}</h1>
        {actions !== undefined && <div class="row">{actions}</div>}
        {about !== undefined && <p>{about}</p>}
      </header>
      {children}
    </main>
  );
}

/** A part of a page. @param isBusy what it shows is about to be replaced */
export function Panel({ title, actions, isBusy, children }: Headed & { readonly isBusy?: boolean }) {
  return (
    <section class={isBusy === true ? "panel busy" : "panel"} aria-busy={isBusy === true} aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        {actions !== undefined && <div class="row">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
