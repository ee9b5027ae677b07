// Exchanges messages of every kind that a report of MPI tells apart: point to point, blocking and not, and collectives.
// For two ranks or more; only the first two send to each other.

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { STEPS = 5, MOST = 1 << 16 };

static double sent[MOST], received[MOST];

int main(int arguments, char **argument) {
    int rank, ranks;
    MPI_Init(&arguments, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int peer = 1 - rank;
    for (int step = 0; step < STEPS && ranks > 1; step++) {
        int count = 1 << (4 + 3 * step);
        if (rank == 0) usleep(2000);
        if (rank == 0) {
            MPI_Send(sent, count, MPI_DOUBLE, 1, step, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(received, count, MPI_DOUBLE, 0, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank < 2) {
            MPI_Request requests[3];
            MPI_Irecv(received, count, MPI_DOUBLE, peer, 100, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(sent, count, MPI_DOUBLE, peer, 100, MPI_COMM_WORLD, &requests[1]);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            MPI_Irecv(received, 3, MPI_DOUBLE, peer, 200, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(received + 8, 5, MPI_DOUBLE, peer, 201, MPI_COMM_WORLD, &requests[1]);
            MPI_Isend(sent, 3, MPI_DOUBLE, peer, 200, MPI_COMM_WORLD, &requests[2]);
            MPI_Send(sent, 5, MPI_DOUBLE, peer, 201, MPI_COMM_WORLD);
            MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
            MPI_Sendrecv(sent, 7, MPI_INT, peer, 300, received, 7, MPI_INT, peer, 300, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Sendrecv(sent, 7 + rank, MPI_INT, peer, 301, received, 8 - rank, MPI_INT, peer, 301, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
        MPI_Allreduce(sent, received, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(sent, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Reduce(sent, received, count, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
        MPI_Allgather(sent, 16, MPI_DOUBLE, received, 16, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) printf("%d ranks\n", ranks);
    MPI_Finalize();
    return 0;
}
