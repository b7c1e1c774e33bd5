import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { leaveBy, useUnsaved } from './unsaved';

interface Props {
  title: string;
  children: ReactNode;
  className?: string;
  /** What is typed here is not worth a question. */
  passing?: boolean;
  /** The dialog was left by Escape. */
  cancel: () => void;
}

/** A modal dialog. The browser keeps the focus in it, and gives it back to where it was. */
export function Dialog({ title, children, className, passing = false, cancel }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [typed, setTyped] = useState(false);
  useUnsaved(typed && !passing);
  // Before the element is removed, so that the browser can give the focus back.
  useLayoutEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={element}
      className={className ? `dialog ${className}` : 'dialog'}
      aria-labelledby={id}
      onInput={() => setTyped(true)}
      onCancel={(event) => {
        event.preventDefault();
        if (typed && !passing) leaveBy(cancel);
        else cancel();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
