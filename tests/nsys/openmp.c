// Work in parallel with OpenMP: loops, single, master and critical regions, sections and tasks.

#include <stdio.h>
#include <unistd.h>
int main(void) {
    double sum = 0; int hits = 0;
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp for reduction(+ : sum) schedule(dynamic, 100)
            for (int i = 0; i < 20000; i++) sum += 1.0 / (i + 1);
#pragma omp barrier
#pragma omp critical
            hits++;
#pragma omp single
            usleep(200);
#pragma omp master
            hits++;
#pragma omp sections
            {
#pragma omp section
                usleep(50);
#pragma omp section
                usleep(60);
            }
        }
#pragma omp parallel num_threads(2)
#pragma omp single
        {
#pragma omp task
            usleep(30);
#pragma omp task
            usleep(40);
#pragma omp taskwait
        }
    }
    printf("%f %d\n", sum, hits);
    return 0;
}
