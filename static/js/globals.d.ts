/** What scripts of other packages bring along. */
interface Htmx {
  ajax(verb: string, path: string, context: { target?: string | Element; swap?: string }): Promise<void>;
  process(element: Element): void;
  trigger(element: Element | string, event: string, detail?: object): void;
}

interface Window {
  htmx: Htmx;
}
