import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

interface Props {
  title: string;
  children: ReactNode;
  /** The dialog was left by Escape. */
  cancel: () => void;
}

/** A modal dialog. The browser keeps the focus in it, and gives it back to where it was. */
export function Dialog({ title, children, cancel }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the element is removed, so that the browser can give the focus back.
  useLayoutEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={element}
      className="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        cancel();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
