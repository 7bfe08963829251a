import {
  getMetadataStorage,
  IsDefined,
  IsOptional,
  IsString,
  ValidationTypes,
} from 'class-validator';

class Dto {
  @IsOptional() @IsString() name?: string;
  @IsDefined() title?: string;
}

const storage = getMetadataStorage();

describe('the internals of class-validator that compiled validation relies on', () => {
  const metadata = storage.getTargetValidationMetadatas(Dto, '', false, false);

  it('the metadata storage lists the rules of a class', () => {
    expect(metadata.map(({ propertyName }) => propertyName).sort()).toEqual([
      'name',
      'name',
      'title',
    ]);
  });

  it('the metadata storage groups the rules by property', () => {
    expect(Object.keys(storage.groupByPropertyName(metadata)).sort()).toEqual(['name', 'title']);
  });

  it('a rule has the fields that determine how it is applied', () => {
    for (const rule of metadata) {
      expect(Object.keys(rule)).toEqual(
        expect.arrayContaining([
          'type',
          'target',
          'propertyName',
          'constraints',
          'constraintCls',
          'each',
        ]),
      );
    }
  });

  it('a condition is a function of the object and the value', () => {
    const [condition] = metadata.filter(
      ({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION,
    );
    const [isGiven] = condition!.constraints as [(object: object, value: unknown) => boolean];
    expect([isGiven({}, undefined), isGiven({ name: 'Ada' }, 'Ada')]).toEqual([false, true]);
  });

  it('each custom rule has a constraint with an instance that validates and explains', () => {
    const custom = metadata.filter(({ type }) => type === ValidationTypes.CUSTOM_VALIDATION);
    expect(custom).not.toEqual([]);
    for (const { constraintCls } of custom) {
      for (const constraint of storage.getTargetValidatorConstraints(constraintCls)) {
        expect(constraint).toMatchObject({ async: false });
        expect(typeof constraint.instance.validate).toBe('function');
        expect(typeof constraint.instance.defaultMessage).toBe('function');
      }
    }
  });
});
