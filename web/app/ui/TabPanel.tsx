import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';

interface Props<K extends string> {
  label: string;
  tabs: { key: K; name: string; href: string }[];
  shown: K;
  children: ReactNode;
}

/**
 * Tabs of which one is shown. Each is an address, so that links and Back lead to it. Arrow keys
 * move between them, and Enter or Space opens one: what it shows is asked for only then.
 */
export function TabPanel<K extends string>({ label, tabs, shown, children }: Props<K>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const before = useRef(shown);
  useEffect(() => {
    if (before.current === shown) return;
    before.current = shown;
    // The link that led here is gone with the tab that it stood in.
    if (document.activeElement === document.body) panel.current!.focus({ preventScroll: true });
  }, [shown]);
  const press = (event: KeyboardEvent) => {
    const all = [...list.current!.children] as HTMLElement[];
    const at = all.indexOf(event.target as HTMLElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === ' ') all[at]?.click();
    else if (next !== undefined) all.at(next % all.length)!.focus();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div ref={list} role="tablist" aria-label={label} className="tab-list no-print" onKeyDown={press}>
        {tabs.map(({ key, name, href }) => (
          <a key={key} role="tab" id={`${id}-${key}`} href={href} aria-selected={key === shown} aria-controls={key === shown ? `${id}-panel` : undefined} tabIndex={key === shown ? 0 : -1}>{name}</a>
        ))}
      </div>
      <div ref={panel} role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown}`} tabIndex={-1} className="stack">{children}</div>
    </>
  );
}
