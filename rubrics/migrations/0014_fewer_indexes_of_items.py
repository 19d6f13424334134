"""What two indexes found is found by others that begin with the same column."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Changes indexes and a constraint."""

    dependencies = [
        ('rubrics', '0013_criterion_count'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='rubricitem',
            name='rubrics_item_criterion_once',
        ),
        migrations.AlterField(
            model_name='case',
            name='benchmark',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='cases', to='rubrics.benchmark'),
        ),
        migrations.AlterField(
            model_name='rubricitem',
            name='criterion',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='items', to='rubrics.criterion'),
        ),
        migrations.AddConstraint(
            model_name='rubricitem',
            constraint=models.UniqueConstraint(fields=('criterion', 'rubric'), name='rubrics_item_criterion_once'),
        ),
    ]
