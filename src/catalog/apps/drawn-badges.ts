/** The badges that were drawn last, by app. One is drawn anew only when it says something else: a flood of questions draws nothing. */
import type { AppBadge } from "./app-page.ts";

interface DrawnBadge {
  readonly badge: AppBadge;
  readonly image: Promise<string>;
}

export class DrawnBadges {
  readonly #draw: (badge: AppBadge) => Promise<string>;
  readonly #most: number;
  readonly #bySlug = new Map<string, DrawnBadge>();

  /** @param most badges that are kept; beyond it the oldest is dropped */
  constructor(draw: (badge: AppBadge) => Promise<string>, most: number) {
    this.#draw = draw;
    this.#most = most;
  }

  /** An SVG image. @throws what drawing throws; the next question then draws again */
  get(slug: string, badge: AppBadge): Promise<string> {
    const drawn = this.#bySlug.get(slug);
    if (drawn !== undefined && isSame(drawn.badge, badge)) return drawn.image;
    const image = this.#draw(badge);
    this.#bySlug.delete(slug);
    this.#bySlug.set(slug, { badge, image });
    const [oldest] = this.#bySlug.keys();
    if (this.#bySlug.size > this.#most && oldest !== undefined) this.#bySlug.delete(oldest);
    image.catch(() => {
      if (this.#bySlug.get(slug)?.image === image) this.#bySlug.delete(slug);
    });
    return image;
  }
}

const isSame = (a: AppBadge, b: AppBadge): boolean =>
  a.label === b.label && a.message === b.message && a.color === b.color;
