/** Links within the console: the address of a page of the org, without loading the page anew. */
import type { ComponentChildren } from "preact";
import { go, pageAddress } from "../app/router.ts";
import { orgSlug } from "../app/session.ts";

interface LinkProps {
  /** The page and what follows it: `["requests", id]`. */
  readonly to: readonly string[];
  readonly filters?: Readonly<Record<string, string | undefined>>;
  readonly class?: string;
  readonly current?: boolean;
  /** Called once it leads there. */
  readonly onFollow?: () => void;
  readonly children: ComponentChildren;
}

export function Link({ to, filters, current, onFollow, children, class: name }: LinkProps) {
  const address = pageAddress(orgSlug.value, to, filters);
  return (
    <a
      href={address}
      class={name}
      aria-current={current === true ? "page" : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(address);
        onFollow?.();
      }}
    >
      {children}
    </a>
  );
}
