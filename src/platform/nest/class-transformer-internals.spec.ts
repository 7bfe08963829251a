import 'reflect-metadata';
import { Type } from 'class-transformer';
import { declaredTypeOf } from './class-transformer-internals.js';

class Part {
  name: string;
}

class Whole {
  @Type(() => Part) parts: Part[];
  other: Part;
}

class SubWhole extends Whole {}

describe('the internals of class-transformer that schemas rely on', () => {
  it('the metadata storage has the class of @Type()', () => {
    expect(declaredTypeOf(Whole, 'parts')).toBe(Part);
    expect(declaredTypeOf(SubWhole, 'parts')).toBe(Part);
  });

  it('the metadata storage has nothing without @Type()', () => {
    expect(declaredTypeOf(Whole, 'other')).toBeUndefined();
  });
});
