import { type MouseEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { leaveBy, useUnsaved } from './unsaved';

export interface DialogProps {
  title: string;
  children: ReactNode;
  className?: string;
  /** What is typed here is not worth a question. */
  passing?: boolean;
  /** A click beside it leaves it, as Escape does. */
  leftBeside?: boolean;
  /** The dialog was left by Escape, or by a click beside it. */
  cancel: () => void;
}

/** A modal dialog. The browser keeps the focus in it, and gives it back to where it was. */
export function Dialog({ title, children, className, passing = false, leftBeside = false, cancel }: DialogProps) {
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
  const leave = () => {
    if (typed && !passing) leaveBy(cancel);
    else cancel();
  };
  // Where the press began: a text that is selected beyond the edge is no click beside the dialog.
  const pressed = useRef(false);
  // What is picked from a list is no input.
  const picks = (target: EventTarget, of: string) => (target as Element).closest(of) && setTyped(true);
  return (
    <dialog
      ref={element}
      className={className ? `dialog ${className}` : 'dialog'}
      aria-labelledby={id}
      onInput={() => setTyped(true)}
      onPointerUpCapture={({ target }) => picks(target, '[role="option"]')}
      onClickCapture={({ target }) => picks(target, '[role="option"]')}
      onKeyDownCapture={({ key, target }) => key === 'Enter' && picks(target, '[role="combobox"][aria-expanded="true"]')}
      onPointerDown={(event) => {
        pressed.current = isBeside(event);
      }}
      onClick={(event) => leftBeside && pressed.current && isBeside(event) && leave()}
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Reports whether a click met what lies behind the dialog. */
function isBeside({ target, currentTarget, clientX: x, clientY: y }: MouseEvent<HTMLDialogElement>): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  return target === currentTarget && (x < left || x > right || y < top || y > bottom);
}
