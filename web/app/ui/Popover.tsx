import { type ReactNode, useId, useRef, useState } from 'react';

interface Props {
  /** What the button shows. */
  button: ReactNode;
  /** What opens, in words. */
  label: string;
  className?: string;
  /** What the button is called, where what it shows does not say. */
  name?: string;
  children: (close: () => void) => ReactNode;
}

/** A button with a part of the page over the others. The browser closes it by Escape or a click elsewhere, and gives the focus back. */
export function Popover({ button, label, name, className = '', children }: Props) {
  const id = useId();
  const part = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  return (
    <span className="pop-anchor">
      <button type="button" className={className} aria-label={name} title={name} popoverTarget={id} aria-haspopup="dialog">{button}</button>
      <div ref={part} id={id} popover="auto" role="dialog" aria-label={label} className="pop" onToggle={(event) => event.target === event.currentTarget && setOpen(event.newState === 'open')}>
        {open && children(() => part.current?.hidePopover())}
      </div>
    </span>
  );
}
